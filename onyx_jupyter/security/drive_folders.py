"""The folders of Onyx that JupyterLab shows as a drive of their own, by name. It opens and lists nothing.

`Onyx:workspace/notes.md` is how JupyterLab writes a file of that drive. What lies in none of its folders has no such
path: the configuration, keys, conversations and logs are never among them.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

DRIVE_NAME = "Onyx"
DRIVE_PREFIX = f"{DRIVE_NAME}:"


@dataclass(frozen=True, slots=True)
class DriveFolder:
    """One folder of the drive; nothing is written into one that is not `writable`."""

    real: Path
    writable: bool = True


Folders = Mapping[str, DriveFolder]


class DriveFolders:
    """`folders` gives them at each call, since agents come and go with the configuration.

    A folder that holds `private` (ONYX_HOME), or lies in a part of it that is nobody's to read, is left out, whatever
    the configuration says.
    """

    def __init__(self, private: Path, hidden: frozenset[str], folders: Callable[[], Folders]) -> None:
        self._private = private.resolve()
        self._hidden = hidden
        self._folders = folders

    def all(self) -> Folders:
        """The folders by name, as real paths."""
        real = {name: DriveFolder(folder.real.resolve(), folder.writable) for name, folder in self._folders().items()}
        return {name: folder for name, folder in real.items() if self._may_be_shown(folder.real)}

    def real(self, path: str) -> Path | None:
        """Where a path of the drive (`workspace/x`, with or without `Onyx:`) leads; None out of its folders.

        Links are followed, and count where they lead.
        """
        name, _, rest = _tidy(path).partition("/")
        folder = self.all().get(name)
        if folder is None:
            return None
        try:
            real = (folder.real / rest).resolve()
        except (OSError, RuntimeError, ValueError):
            return None
        return real if _within(real, folder.real) else None

    def shown(self, real: Path) -> str | None:
        """The path by which JupyterLab opens it; None where no folder holds it, or it is hidden there."""
        for name, folder in self.all().items():
            if _within(real, folder.real):
                parts = real.relative_to(folder.real).parts
                return None if any(map(is_hidden, parts)) else DRIVE_PREFIX + "/".join((name, *parts))
        return None

    def _may_be_shown(self, folder: Path) -> bool:
        if _within(self._private, folder):
            return False
        inside = folder.relative_to(self._private).parts if _within(folder, self._private) else ()
        return not inside or (inside[0] not in self._hidden and not is_hidden(inside[0]))


def browser_path(real: Path, root: Path | None, drive: DriveFolders | None) -> str | None:
    """The path by which JupyterLab opens a file: from the server's root where it is shown there, else on the drive."""
    if root is not None and _within(real, root):
        parts = real.relative_to(root).parts
        if not any(map(is_hidden, parts)):
            return "/".join(parts)
    return drive.shown(real) if drive is not None else None


def is_hidden(name: str) -> bool:
    """By its name, as in the file browser."""
    return name.startswith(".")


def _tidy(path: str) -> str:
    """Without drive, slashes at its ends, and `..`."""
    return posixpath.normpath("/" + path.removeprefix(DRIVE_PREFIX)).strip("/")


def _within(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents
