"""Measures the promised figures and prints one table: `python benchmarks/run.py [names…] [--json F] [--markdown F]`."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.figures import Group, as_json, as_markdown, as_table
from benchmarks.figures_page import write_sections

NAMES = (
    "startup",
    "footprint",
    "streaming",
    "stop",
    "tool_turn",
    "secret_redaction",
    "notebook.edits",
    "notebook.outline",
    "notebook.undo",
    "notebook.kernel_variables",
    "notebook.magics",
    "memory.embedder",
    "memory.search",
    "memory.sync",
    "memory.recall",
    "memory.locomo",
    "schedule.many_jobs",
    "schedule.empty_heartbeat",
    "schedule.panel",
    "model_requests",
    "many_sessions",
    "providers.protocols",
    "providers.settings",
    "local_model",
    "browser",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """1 where a figure is missed or could not be taken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(NAMES)}; all of them if left out")
    parser.add_argument("--json", type=Path, help="write every sample into this file")
    parser.add_argument("--markdown", type=Path, help="write the sections of what is measured into this page")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"there is no {', '.join(sorted(unknown))}, only {', '.join(NAMES)}")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else LiteLLM looks for prices on the network
    groups, sections, failed = _measure([name for name in NAMES if name in options.names or not options.names])
    print(as_table(groups))
    for name in failed:
        print(f"{name}: could not be measured, see above")
    machine = machine_text()
    print(machine)
    if options.json:
        options.json.write_text(as_json(groups, machine), encoding="utf-8")
    if options.markdown:
        write_sections(options.markdown, sections)
    missed = [figure for group in groups for figure in group.figures if figure.verdict == "missed"]
    return 1 if missed or failed else 0


def _measure(names: Sequence[str]) -> tuple[list[Group], list[str], list[str]]:
    """The groups, their sections of the page, and the names of what could not be measured."""
    groups, sections, failed = [], [], []
    for name in names:
        began = time.monotonic()
        _tell(f"{name} …")
        try:
            group = importlib.import_module(f"benchmarks.{name}").measure()
            groups.append(group)
            sections.append(as_markdown(group, machine_text()))
        except Exception:
            traceback.print_exc()
            failed.append(name)
        _tell(f"{name}: {time.monotonic() - began:.0f} s")
    return groups, sections, failed


def machine_text() -> str:
    """When and where it was measured, for the end of a sentence."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
    return (
        f"on {time.strftime('%Y-%m-%d')}: Python {platform.python_version()} on {platform.system()} "
        f"{platform.machine()}, {os.cpu_count()} cores, {psutil.virtual_memory().total / 1e9:.0f} GB; "
        f"load average over 1, 5 and 15 minutes at the end: {load}."
    )


def _tell(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
