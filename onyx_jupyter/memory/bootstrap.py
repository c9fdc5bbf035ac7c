"""Reads the agent's own files that go into every prompt, within their size caps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from onyx_jupyter.errors import StorageError, ToolError
from onyx_jupyter.memory.folder import read_bytes, utf8
from onyx_jupyter.memory.targets import MEMORY_FILE
from onyx_jupyter.protocols import BootstrapFile

BOOTSTRAP_FILES = ("SOUL.md", "IDENTITY.md", "USER.md", "AGENTS.md", "TOOLS.md", MEMORY_FILE)
MAX_BOOTSTRAP_FILE_CHARS = 20_000
MAX_BOOTSTRAP_CHARS = 60_000


def read_bootstrap_files(workspace: Path) -> Sequence[BootstrapFile]:
    """In prompt order; a file over its cap ends with a line that says so."""
    texts = [(name, _own_text(name, workspace)) for name in BOOTSTRAP_FILES]
    found: list[BootstrapFile] = []
    room = MAX_BOOTSTRAP_CHARS
    for name, text in texts:
        if text:
            found.append(within_cap(name, text, min(room, MAX_BOOTSTRAP_FILE_CHARS)))
            room -= len(text) - found[-1].left_out
    return found


def within_cap(name: str, text: str, cap: int) -> BootstrapFile:
    """The file, cut at its cap; the last line then says so."""
    left_out = max(0, len(text) - cap)
    if left_out:
        text = f"{text[:cap]}\n[… {left_out} more characters of {name} are not shown here …]\n"
    return BootstrapFile(name, text, size=cap + left_out if left_out else len(text), left_out=left_out)


def _own_text(name: str, workspace: Path) -> str:
    """The file's text, only from inside the workspace: a file elsewhere may belong to another agent."""
    try:
        real = (workspace / name).resolve()
    except (OSError, RuntimeError):  # a loop of links
        return ""
    if workspace in real.parents:
        return _text(name, real)
    return f"[{name} is left out: it is a link that leads out of the workspace.]" if real.is_file() else ""


def _text(name: str, file: Path) -> str:
    """Empty if the file is missing or blank; an unreadable file yields a note, so that the prompt is still built."""
    try:
        text = utf8(file.name, read_bytes(file)) if file.is_file() else ""  # NUL is allowed: it is the user's own file
    except (StorageError, ToolError) as error:
        return f"[{name} could not be read: {error}]"
    return text if text.strip() else ""
