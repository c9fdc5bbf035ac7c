"""A front-end file generated from Python: written, or only compared, in CI and in `make types`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path


def write_or_check(target: Path, text: str, arguments: Sequence[str], module: str) -> int:
    """Writes `text`, or with `--check` compares it: returns 1 if the file is outdated. `module` regenerates it."""
    if "--check" not in arguments:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return 0
    if target.exists() and target.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{target} is out of date: run python -m {module}\n")
    return 1
