"""A file of the front end that is written from Python: made anew, or only compared, in CI and in `make types`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path


def write_or_check(target: Path, text: str, arguments: Sequence[str], module: str) -> int:
    """Write `text`, or with `--check` compare it: 1 when the file on disk is not current. `module` writes it anew."""
    if "--check" not in arguments:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return 0
    if target.exists() and target.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{target} is not current: run python -m {module}\n")
    return 1
