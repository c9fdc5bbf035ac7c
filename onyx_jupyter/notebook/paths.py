"""One spelling for each notebook path, so that tab, kernel session and tool mean the same file."""

from __future__ import annotations

import posixpath
from pathlib import Path

from onyx_jupyter.security.drive_folders import DRIVE_PREFIX, DriveFolders, browser_path

COLLABORATION_DRIVE = "RTC:"


class NotebookPaths:
    """Canonical contents API paths. `root` is the served folder, or None if contents are not files.

    A file that only Onyx's drive shows always gets its path there, prefixed with `Onyx:`.
    """

    def __init__(self, root: Path | None, drive: DriveFolders | None = None) -> None:
        self._root = root.resolve() if root is not None else None
        self._drive = drive

    def canonical(self, path: str) -> str:
        """Without drive, leading slash, `..` and links; a path that leaves the root is only normalized."""
        if path.startswith(DRIVE_PREFIX) and self._drive is not None:
            place = self._drive.real(path)
            return (browser_path(place, self._root, self._drive) if place is not None else None) or path
        plain = posixpath.normpath(path.removeprefix(COLLABORATION_DRIVE).strip("/") or ".")
        if self._root is None:
            return plain
        try:
            real = (self._root / plain).resolve()
        except (OSError, RuntimeError, ValueError):
            return plain
        shown = browser_path(real, self._root, self._drive)
        if shown is not None:
            return shown or "."
        return real.relative_to(self._root).as_posix() if self._root in real.parents else plain
