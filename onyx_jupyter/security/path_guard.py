"""Turns paths written by models and people into real ones, and refuses those outside the allowed roots."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from onyx_jupyter.errors import PathNotAllowed
from onyx_jupyter.security.drive_folders import DRIVE_PREFIX, DriveFolders, browser_path
from onyx_jupyter.security.open_beneath import Folder, NotRegular, folder_beneath

WORKSPACE_PREFIX = "onyx:"


class PathGuard:
    """Resolves paths as JupyterLab's file browser writes them.

    Paths are relative to the server's root; `onyx:` in front means the agent's workspace, `Onyx:` the drive of that
    name; absolute paths must be inside the allowed roots. The real path decides, so `..` and symbolic links cannot
    escape. `private` is a folder (ONYX_HOME) of which only the workspace may be used, even if it is inside a root.
    """

    def __init__(
        self, server_root: Path, workspace: Path, *, private: Path | None = None, drive: DriveFolders | None = None
    ) -> None:
        self.server_root = server_root.resolve()
        self.workspace = workspace.resolve()
        self._private = private.resolve() if private is not None else None
        self._drive = drive

    @property
    def roots(self) -> tuple[Path, Path]:
        """The folders in which tools may work, as real paths."""
        return (self.server_root, self.workspace)

    def resolve(self, path: str) -> Path:
        """The real path, whether or not it exists yet. Raises: PathNotAllowed."""
        if "\0" in path:
            raise PathNotAllowed(f"The path {path!r} contains a NUL character.")
        try:
            real = self._candidate(path).resolve()
            if real.resolve() != real:  # after a loop of links, `..` hides remaining links from Python
                raise PathNotAllowed(f"The path {path!r} leads through a loop of links.")
        except (OSError, RuntimeError, ValueError) as error:  # a loop of links, or a name the system cannot hold
            raise PathNotAllowed(f"The path {path!r} cannot be resolved: {error}.") from error
        if self._root_of(real) is None:
            raise PathNotAllowed(
                f"The path {path!r} lies outside the folders that Onyx may use: {', '.join(map(str, self.roots))}."
            )
        if self._is_hidden(real):
            raise PathNotAllowed(
                f"The path {path!r} belongs to Onyx itself (its configuration, keys and conversations). "
                f"Of {self._private} only the agent's workspace {self.workspace} may be used."
            )
        return real

    def api_path(self, path: str) -> str:
        """The path for JupyterLab: posix, from the server's root or on Onyx's drive. Raises: PathNotAllowed."""
        real = self.resolve(path)
        shown = browser_path(real, self.server_root, self._drive)
        if shown is not None:
            return shown or "."
        if real != self.server_root and self.server_root not in real.parents:
            raise PathNotAllowed(f"The path {path!r} lies outside the server's root {self.server_root}.")
        return real.relative_to(self.server_root).as_posix()

    def shown(self, real: Path) -> str:
        """A real path as people write it: from the server's root, or with `onyx:` in front."""
        if self.in_workspace(real):
            return WORKSPACE_PREFIX + ("" if real == self.workspace else real.relative_to(self.workspace).as_posix())
        return real.relative_to(self.server_root).as_posix()

    def in_workspace(self, real: Path) -> bool:
        """Whether that real path is in the agent's workspace."""
        return real == self.workspace or self.workspace in real.parents

    def folder(self, real: Path, *, make_mode: int | None = None) -> AbstractContextManager[Folder]:
        """Opens the resolved folder so that no link created since can redirect it.

        Raises: PathNotAllowed, OSError.
        """
        root = self._root_of(real)
        if root is None or self._is_hidden(real):
            raise PathNotAllowed(f"The path {str(real)!r} lies outside the folders that Onyx may use.")
        return folder_beneath(root, real, make_mode=make_mode)

    @contextmanager
    def file(self, real: Path) -> Iterator[int]:
        """A descriptor to read the resolved regular file, opened as safely. Raises: PathNotAllowed, OSError."""
        if real in self.roots:
            raise NotRegular("a folder")
        with self.folder(real.parent) as folder:
            descriptor = folder.open(real.name)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def is_private(self, folder: Folder) -> bool:
        """Whether this is the private folder itself, by whatever name it was opened."""
        try:
            return self._private is not None and folder.identity == _identity(self._private)
        except OSError:
            return False

    def _root_of(self, real: Path) -> Path | None:
        inside = [root for root in self.roots if real == root or root in real.parents]
        return max(inside, key=lambda root: len(root.parts), default=None)

    def _is_hidden(self, real: Path) -> bool:
        if self._private is None:
            return False
        if self._private in self.workspace.parents and self.in_workspace(real):
            return False
        private = _identity(self._private)
        # By identity as well as by name: where ONYX.JSON means onyx.json, a folder has two names.
        return any(
            place == self._private or (private is not None and _identity(place) == private)
            for place in (real, *real.parents)
        )

    def _candidate(self, path: str) -> Path:
        if path.startswith(WORKSPACE_PREFIX):
            return self.workspace / path.removeprefix(WORKSPACE_PREFIX).lstrip("/")
        if path.startswith(DRIVE_PREFIX) and self._drive is not None:
            return self._on_drive(self._drive, path)
        given = Path(path)
        return given if given.is_absolute() else self.server_root / given

    def _on_drive(self, drive: DriveFolders, path: str) -> Path:
        real = drive.real(path)
        if real is None:
            folders = ", ".join(f"{DRIVE_PREFIX}{name}" for name in drive.all())
            raise PathNotAllowed(f"The path {path!r} leads to nothing on Onyx's drive, which holds {folders}.")
        return real


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
