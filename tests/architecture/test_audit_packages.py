"""A vulnerability audit that could not query the registries does not pass."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "audit_packages.py"
HOLE = {"id": "PYSEC-1", "fix_versions": ["2.0"], "aliases": [], "description": ""}
LOOKED_UP = {"name": "a", "version": "1.0", "vulns": []}
BAD = {"name": "b", "version": "1.0", "vulns": [HOLE]}
UNKNOWN = {"name": "c", "skip_reason": "not found"}


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit_packages", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_checked_packages_without_vulnerabilities_pass(audit: ModuleType) -> None:
    assert audit.python_verdict({"dependencies": [LOOKED_UP]}) == (audit.CLEAN, [])
    assert audit.npm_verdict({"vulnerabilities": {}}) == (audit.CLEAN, [])


def test_known_vulnerability_is_named_with_its_fix(audit: ModuleType) -> None:
    code, words = audit.python_verdict({"dependencies": [LOOKED_UP, BAD, UNKNOWN]})
    assert code == audit.FOUND
    assert words[0] == "b 1.0: PYSEC-1, fixed in 2.0"
    assert "NOT AUDITED: c" in words[1]


def test_npm_vulnerabilities_count_from_moderate(audit: ModuleType) -> None:
    for severity, expected in (("low", audit.CLEAN), ("moderate", audit.FOUND), ("critical", audit.FOUND)):
        report = {"vulnerabilities": {"x": {"severity": severity, "range": "<2"}}}
        assert audit.npm_verdict(report)[0] == expected


def test_unreachable_registry_is_not_a_pass(audit: ModuleType) -> None:
    assert audit.python_verdict({"dependencies": [UNKNOWN]})[0] == audit.NOT_SAID
    assert audit.npm_verdict({"message": "405 Method Not Allowed", "error": {}})[0] == audit.NOT_SAID


def test_package_that_could_not_be_checked_is_named(audit: ModuleType) -> None:
    assert audit.python_verdict({"dependencies": [LOOKED_UP, UNKNOWN]}) == (
        audit.CLEAN,
        ["NOT AUDITED: c (not found)"],
    )


@pytest.mark.parametrize(("known", "asked"), [(False, 1), (True, 2)])
def test_package_unknown_to_registry_is_excluded_from_bulk_query(tmp_path: Path, known: bool, asked: int) -> None:
    dependency = LOOKED_UP if known else UNKNOWN
    stand_in = tmp_path / "pip-audit"
    stand_in.write_text(
        f"#!{sys.executable}\nimport sys, shutil\n"
        f"open({str(tmp_path / 'asked')!r}, 'a').write(str(len(open(sys.argv[2]).readlines())) + ' ')\n"
        f"print({json.dumps({'dependencies': [dependency]})!r})\n",
        "utf-8",
    )
    stand_in.chmod(0o700)
    command = [sys.executable, str(SCRIPT), "python", str(stand_in)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=SCRIPT.parents[1])
    assert done.returncode == (0 if known else 3), done.stderr
    sizes = [int(size) for size in tmp_path.joinpath("asked").read_text("utf-8").split()]
    assert len(sizes) == asked
    assert sizes[0] == 1
    assert all(size > 100 for size in sizes[1:])
