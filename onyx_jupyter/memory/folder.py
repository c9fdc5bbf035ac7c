"""Which files are an agent's memory, and where they are: the workspace's own, and those shared by all agents."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from onyx_jupyter.errors import PathNotAllowed, StorageError, ToolError
from onyx_jupyter.memory.targets import DAILY_FOLDER, FACTS_FILE, SHARED_PREFIX, USER_FOLDER
from onyx_jupyter.storage.disk_errors import disk_errors

MAX_FILE_BYTES = 10 * 1024 * 1024
NO_FILE = ""
"""The checksum of a file that does not exist."""
WORKSPACE_ITSELF = "./"
"""The path by which the workspace itself is cited as a folder."""
_SUFFIX = ".md"
_SUBFOLDERS = (DAILY_FOLDER, USER_FOLDER)


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """One file as found: `path` as cited, `real` on disk; `problem` says why it can't be read.

    `changed_ns` and `inode_changed_ns` are times in nanoseconds: with the size they show whether it may have been
    written since. `is_folder`: stands for a folder whose files aren't listed because of its problem; if `is_closed`,
    its former files may still exist.
    """

    path: str
    real: Path
    size_bytes: int = 0
    changed_ns: int = 0
    inode_changed_ns: int = 0
    problem: str | None = None
    is_folder: bool = False
    is_closed: bool = False

    @property
    def is_shared(self) -> bool:
        return self.path.startswith(SHARED_PREFIX)

    def holds(self, path: str) -> bool:
        """Whether it is the folder of the file with that path."""
        folder, slash, _ = path.rpartition("/")
        return self.is_folder and self.path == (folder + slash or WORKSPACE_ITSELF)


class MemoryFolder:
    """The folders of one agent's memory. Paths are from the workspace; a `shared/` prefix means the shared folder."""

    def __init__(self, workspace: Path, shared: Path | None = None) -> None:
        self.workspace = workspace.resolve()
        self.shared = shared.resolve() if shared is not None else None

    @property
    def folders(self) -> Sequence[Path]:
        """The folders that hold memory files, even if they don't exist yet."""
        own = (self.workspace, *(self.workspace / name for name in _SUBFOLDERS))
        return (*own, self.shared) if self.shared is not None else own

    def resolve(self, path: str) -> Path:
        """The real file of a path, even if it doesn't exist. Raises: PathNotAllowed."""
        root, rest = self._split(path.removeprefix("onyx:"))
        try:
            file = (root / rest).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise PathNotAllowed(f"The path {path!r} cannot be resolved: {error}.") from error
        if root not in file.parents or file.resolve() != file:  # the latter: a loop of links hid the target
            raise PathNotAllowed(f"The path {path!r} is outside the agent's workspace {self.workspace}.")
        return file

    def name_of(self, real: Path) -> str | None:
        """The path by which a real file is cited; None if it is not a memory file."""
        if real == self.workspace / FACTS_FILE:
            return FACTS_FILE
        if real.suffix.lower() != _SUFFIX or real.name.startswith("."):
            return None
        prefixes = {self.workspace: "", **{self.workspace / name: f"{name}/" for name in _SUBFOLDERS}}
        prefixes |= {self.shared: SHARED_PREFIX} if self.shared is not None else {}
        prefix = prefixes.get(real.parent)
        return None if prefix is None else prefix + real.name

    def covers_path(self, place: Path) -> bool:
        """Whether the real path is a memory file, or a folder that may hold some."""
        return self.name_of(place) is not None or any(
            folder == place or place in folder.parents for folder in self.folders
        )

    def root_of(self, real: Path) -> Path:
        """The root of a real memory file: the workspace or the shared folder."""
        return self.shared if self.shared is not None and self.shared in real.parents else self.workspace

    def files(self) -> Sequence[MemoryFile]:
        """Every memory file, sorted by path, including files and folders that can't be read."""
        return sorted((file for folder in self.folders for file in self._in(folder)), key=lambda file: file.path)

    def _split(self, path: str) -> tuple[Path, str]:
        if self.shared is not None and path.startswith(SHARED_PREFIX):
            return self.shared, path.removeprefix(SHARED_PREFIX)
        return self.workspace, path

    def _in(self, folder: Path) -> Iterator[MemoryFile]:
        try:
            found = self._names_in(folder)
        except ToolError as error:
            yield self._unreadable_folder(folder, str(error))
            return
        except StorageError as error:
            yield self._unreadable_folder(folder, str(error), is_closed=True)
            return
        for entry in found:
            real = folder / entry.name
            path = self.name_of(real) or ""
            try:
                if entry.is_symlink():
                    if problem := self._link_problem(path):
                        yield MemoryFile(path, real, problem=problem)
                    continue
                status = real.stat()
            except FileNotFoundError:  # gone since
                continue
            except OSError as error:
                yield MemoryFile(path, real, problem=f"It cannot be read: {error.strerror or error}.")
                continue
            if stat.S_ISREG(status.st_mode):
                yield MemoryFile(path, real, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            elif not stat.S_ISDIR(status.st_mode):
                yield MemoryFile(path, real, problem="It is not a regular file.")

    def _names_in(self, folder: Path) -> Sequence[os.DirEntry[str]]:
        """Raises: StorageError if it can't be listed, ToolError if it is not a folder or reached by a link."""
        with disk_errors("list", folder):
            try:
                status = folder.lstat()
                if stat.S_ISLNK(status.st_mode) or (stat.S_ISDIR(status.st_mode) and folder.resolve() != folder):
                    raise ToolError(
                        "It is a link, and links to folders are not followed. Replace it with the folder itself."
                    )
                if not stat.S_ISDIR(status.st_mode):
                    raise ToolError("It is not a folder.")
                with os.scandir(folder) as entries:
                    return [entry for entry in entries if self.name_of(folder / entry.name) is not None]
            except FileNotFoundError:  # missing
                return []

    def _unreadable_folder(self, folder: Path, problem: str, *, is_closed: bool = False) -> MemoryFile:
        own = {self.workspace: WORKSPACE_ITSELF, **{self.workspace / name: f"{name}/" for name in _SUBFOLDERS}}
        path = own.get(folder, SHARED_PREFIX)
        return MemoryFile(path, folder, problem=problem, is_folder=True, is_closed=is_closed)

    def _link_problem(self, path: str) -> str | None:
        """None if it leads to a memory file, which is listed under its own name."""
        try:
            real = self.resolve(path)
            if not real.exists():
                return "It is a broken link."
        except PathNotAllowed:
            return "It is a link that leads out of the memory folder or in a circle."
        return None if self.name_of(real) else "It is a link to something that is not a memory file."


def read_bytes(file: Path) -> bytes:
    """A memory file's content. Raises: StorageError, ToolError if it is too large."""
    with disk_errors("read", file):
        size_bytes = file.stat().st_size
        if size_bytes > MAX_FILE_BYTES:
            raise ToolError(f"{file.name} is too large for a memory file ({size_bytes:,} bytes).")
        return file.read_bytes()


def read_text(file: Path) -> str:
    """Raises: StorageError, ToolError if it is too large or not UTF-8."""
    return decoded(file.name, read_bytes(file))


def refuse_unreadable(path: str, data: bytes) -> None:
    """Raises: ToolError for content that could not be read, searched or added to once written."""
    if len(data) > MAX_FILE_BYTES:
        raise ToolError(f"{path} would be too large for a memory file ({len(data):,} bytes). Put it in another one.")
    decoded(path, data)


def decoded(name: str, raw: bytes) -> str:
    """Raises: ToolError if it is not UTF-8, or contains NUL characters."""
    text = utf8(name, raw)
    if "\0" in text:
        raise ToolError(f"{name} is not text: it contains NUL characters.")
    return text


def utf8(name: str, raw: bytes) -> str:
    """Allows any character. Raises: ToolError."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ToolError(f"{name} is not UTF-8 text ({error.reason} at byte {error.start}).") from error
