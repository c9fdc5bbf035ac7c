"""One spelling for each notebook, so that tab, kernel session and tool mean the same file. It reads no content."""

from __future__ import annotations

import posixpath
from pathlib import Path

from onyx_jupyter.security.drive_folders import DRIVE_PREFIX, DriveFolders, browser_path

COLLABORATION_DRIVE = "RTC:"


class NotebookPaths:
    """Canonical contents API paths. `root` is the served folder, or None where contents are not files.

    What only Onyx's drive shows has its path there, `Onyx:` in front, by whichever way one came to it.
    """

    def __init__(self, root: Path | None, drive: DriveFolders | None = None) -> None:
        self._root = root.resolve() if root is not None else None
        self._drive = drive

    def canonical(self, path: str) -> str:
        """Without drive, leading slash, `..` and links; what leads out of the root is only tidied."""
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
