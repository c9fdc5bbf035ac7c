"""One spelling for each notebook, so that tab, kernel session and tool mean the same file. It reads no content."""

from __future__ import annotations

import posixpath
from pathlib import Path

COLLABORATION_DRIVE = "RTC:"


class NotebookPaths:
    """Canonical contents API paths. `root` is the served folder, or None where contents are not files."""

    def __init__(self, root: Path | None) -> None:
        self._root = root.resolve() if root is not None else None

    def canonical(self, path: str) -> str:
        """Without drive, leading slash, `..` and links; what leads out of the root is only tidied."""
        plain = posixpath.normpath(path.removeprefix(COLLABORATION_DRIVE).strip("/") or ".")
        if self._root is None:
            return plain
        try:
            real = (self._root / plain).resolve()
        except (OSError, RuntimeError, ValueError):
            return plain
        return real.relative_to(self._root).as_posix() if self._root in real.parents else plain
