"""The folders of Onyx that JupyterLab shows as a separate drive, by name.

JupyterLab writes a file of that drive as `Onyx:workspace/notes.md`. Files outside its folders have no such path: the
configuration, keys, sessions and logs are never on the drive.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DRIVE_NAME = "Onyx"
DRIVE_PREFIX = f"{DRIVE_NAME}:"


@dataclass(frozen=True, slots=True)
class DriveFolder:
    """One folder of the drive; nothing is written into it unless it is `writable`."""

    real: Path
    writable: bool = True


Folders = Mapping[str, DriveFolder]


@dataclass(frozen=True, slots=True)
class FolderSnapshot:
    """The folders of the drive at one moment, as real paths."""

    folders: Folders

    def real(self, path: str) -> Path | None:
        """The real path for a path of the drive (`workspace/x`, with or without `Onyx:`); None outside its folders.

        Links are followed, and their target counts.
        """
        name, _, rest = _tidy(path).partition("/")
        folder = self.folders.get(name)
        if folder is None:
            return None
        try:
            real = (folder.real / rest).resolve()
        except (OSError, RuntimeError, ValueError):
            return None
        return real if _within(real, folder.real) else None

    def shown(self, real: Path) -> str | None:
        """The path by which JupyterLab opens it; None if no folder contains it, or it is hidden there."""
        for name, folder in self.folders.items():
            if _within(real, folder.real):
                parts = real.relative_to(folder.real).parts
                return None if any(map(is_hidden, parts)) else DRIVE_PREFIX + "/".join((name, *parts))
        return None


class DriveFolders:
    """`folders` is called each time, since agents come and go with the configuration.

    A folder that contains `private` (ONYX_HOME), or is in a part of it that must not be read, is left out, whatever the
    configuration says.
    """

    def __init__(self, private: Path, hidden: frozenset[str], folders: Callable[[], Folders]) -> None:
        self._private = private.resolve()
        self._hidden = hidden
        self._folders = folders

    def all(self) -> Folders:
        """The folders by name, as real paths."""
        real = {name: DriveFolder(folder.real.resolve(), folder.writable) for name, folder in self._folders().items()}
        return {name: folder for name, folder in real.items() if self._may_be_shown(folder.real)}

    def now(self) -> FolderSnapshot:
        """The folders at this moment: for a listing, which needs them for each of its entries."""
        return FolderSnapshot(self.all())

    def real(self, path: str) -> Path | None:
        """See `FolderSnapshot.real`."""
        return self.now().real(path)

    def shown(self, real: Path) -> str | None:
        """See `FolderSnapshot.shown`."""
        return self.now().shown(real)

    def _may_be_shown(self, folder: Path) -> bool:
        if _within(self._private, folder):
            return False
        inside = folder.relative_to(self._private).parts if _within(folder, self._private) else ()
        return not inside or (inside[0] not in self._hidden and not is_hidden(inside[0]))


def browser_path(real: Path, root: Path | None, drive: DriveFolders | None) -> str | None:
    """The path by which JupyterLab opens a file: from the server's root if it is shown there, else on the drive."""
    return browser_paths([real], root, drive)[0]


def browser_paths(reals: Sequence[Path], root: Path | None, drive: DriveFolders | None) -> list[str | None]:
    """`browser_path` for several files; the folders of the drive are looked up once, if at all."""
    paths = [_path_from(root, real) for real in reals]
    if drive is None or None not in paths:
        return paths
    now = drive.now()
    return [now.shown(real) if path is None else path for path, real in zip(paths, reals, strict=True)]


def is_hidden(name: str) -> bool:
    """Whether the file browser hides that name."""
    return name.startswith(".")


def _path_from(root: Path | None, real: Path) -> str | None:
    if root is None or not _within(real, root):
        return None
    parts = real.relative_to(root).parts
    return None if any(map(is_hidden, parts)) else "/".join(parts)


def _tidy(path: str) -> str:
    """The path without drive, outer slashes, and `..`."""
    return posixpath.normpath("/" + path.removeprefix(DRIVE_PREFIX)).strip("/")


def _within(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents
