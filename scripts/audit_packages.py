"""Known vulnerabilities of the locked packages, Python's or npm's. Run by scripts/security.sh.

The exit code is 0 where none is known, 1 where one is, and 3 where the registry did not say: pip-audit calls a package
that it could not look up a success, and npm a registry that gives no advisories a failure.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

CLEAN, FOUND, NOT_SAID = 0, 1, 3
SERIOUS = ("moderate", "high", "critical")
LOCK = "requirements/dev.lock"
ASKED_FIRST = "packaging"  # one package of everybody's, before two hundred are looked up in vain
TIMEOUT_S = 600

Verdict = tuple[int, Sequence[str]]


def python_verdict(report: Mapping[str, Any]) -> Verdict:
    """Summarizes pip-audit's report. Every vulnerability counts: PyPI does not grade them."""
    packages = report["dependencies"]
    unknown = [f"NOT AUDITED: {one['name']} ({one['skip_reason']})" for one in packages if "skip_reason" in one]
    found = [
        f"{one['name']} {one['version']}: {hole['id']}, fixed in {', '.join(hole['fix_versions']) or 'no version yet'}"
        for one in packages
        for hole in one.get("vulns", ())
    ]
    if found:
        return FOUND, [*found, *unknown]
    if len(unknown) == len(packages):
        return NOT_SAID, ["The registry knows no vulnerabilities, nor the packages."]
    return CLEAN, unknown


def npm_verdict(report: Mapping[str, Any]) -> Verdict:
    """Summarizes npm's report; vulnerabilities count from "moderate"."""
    if "vulnerabilities" not in report:
        return NOT_SAID, [str(report.get("message") or report.get("error") or "npm gave no report.")]
    found = [
        f"{name} {hole['range']}: {hole['severity']}"
        for name, hole in report["vulnerabilities"].items()
        if hole["severity"] in SERIOUS
    ]
    return (FOUND if found else CLEAN), found


def audit_python(pip_audit: str) -> Verdict:
    locked = Path(LOCK).read_text("utf-8")
    with TemporaryDirectory() as folder:
        for lines in (_pins(locked, only=ASKED_FIRST), _pins(locked)):
            asked = Path(folder, "requirements.txt")
            asked.write_text("\n".join(lines), "utf-8")
            code, words = _report(
                [pip_audit, "-r", str(asked), "--no-deps", "--disable-pip", "--progress-spinner=off", "--format=json"],
                python_verdict,
            )
            if code == NOT_SAID:
                break
    return code, words


def audit_npm() -> Verdict:
    return _report(["npm", "audit", "--package-lock-only", "--json"], npm_verdict, cwd="labextension")


def _pins(locked: str, only: str = "") -> list[str]:
    """The lock's lines `name==version; marker`, without their hashes: nothing is installed."""
    lines = [line.removesuffix("\\").strip() for line in locked.splitlines() if line[:1].isalnum()]
    return [line for line in lines if not only or line.startswith(f"{only}==")]


def _report(command: Sequence[str], verdict: Any, cwd: str = ".") -> Verdict:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, cwd=cwd)
        result: Verdict = verdict(json.loads(done.stdout))
    except (OSError, subprocess.TimeoutExpired) as error:
        return NOT_SAID, [str(error)]
    except json.JSONDecodeError:
        return NOT_SAID, (done.stderr.strip().splitlines() or ["no report"])[-1:]
    return result


def main() -> int:
    code, words = audit_npm() if sys.argv[1] == "npm" else audit_python(sys.argv[2])
    print(*words, sep="\n", file=sys.stderr if code else sys.stdout)
    return code


if __name__ == "__main__":
    sys.exit(main())
