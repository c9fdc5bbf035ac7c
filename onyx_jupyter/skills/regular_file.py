"""Reads a skill's files without ever blocking: never a pipe, a device or a socket."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from onyx_jupyter.skills.skill import SkillProblem

# A pipe without a writer would block `open`, and a terminal would become this process's controlling terminal.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def read_regular(path: Path, max_bytes: int, hint: str = "") -> bytes:
    """The file's content. Raises: SkillProblem if it is not a regular file or larger than `max_bytes`; OSError."""
    require_regular(path, path.stat())
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        require_regular(path, status)  # it may have been replaced meanwhile
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        size, most = max(status.st_size, len(content)) // 1_000_000, max_bytes // 1_000_000
        raise SkillProblem(f"{path.name} has {size} MB; {most} MB is the most. {hint}".strip())
    return content


def require_regular(path: Path, status: os.stat_result) -> None:
    """Raises: SkillProblem."""
    if not stat.S_ISREG(status.st_mode):
        raise SkillProblem(f"{path.name} is not a regular file.")
