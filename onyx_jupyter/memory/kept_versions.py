"""Former versions of an agent's memory files: records, lists and reads them. It never writes a memory file."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from onyx_jupyter.errors import NotFound, StorageError
from onyx_jupyter.memory.folder import NO_FILE, read_bytes
from onyx_jupyter.memory.targets import SHARED_PREFIX
from onyx_jupyter.protocols import FileVersion, MemoryAuthor
from onyx_jupyter.storage.versions import VersionedFile, VersionStore, checksum_of

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """A memory file has changed. `written`: by Onyx itself, so it is complete. `version` is None if none was kept."""

    file: VersionedFile
    real: Path
    version: FileVersion | None
    written: bool


@dataclass(frozen=True, slots=True)
class Noted:
    """The content of a file when it was read, None if it did not exist; `version` is None if none are kept."""

    content: bytes | None
    version: FileVersion | None

    @property
    def checksum(self) -> str:
        return checksum_of(self.content) if self.content is not None else NO_FILE


class KeptVersions:
    """The versions of one agent's files and of the shared ones; with `store` None, none are kept.

    Every method blocks. `on_change` is called for each change, in the thread that caused it.
    """

    def __init__(self, agent_id: str, store: VersionStore | None, on_change: Callable[[MemoryChange], None]) -> None:
        self._agent_id = agent_id
        self._store = store
        self._on_change = on_change

    def wrote(
        self,
        path: str,
        real: Path,
        data: bytes,
        author: MemoryAuthor,
        session_key: str | None,
        restored: int | None = None,
    ) -> FileVersion | None:
        """Keeps what was just written. If the disk refuses a version, the next `note` records it as the user's."""
        file, version = self.named(path), None
        if self._store is not None:
            try:
                version = self._store.record(file, data, author, session_key=session_key, restored=restored).version
            except StorageError as error:
                log.warning("A version of %s could not be saved: %s", path, error)
        self._on_change(MemoryChange(file, real, version, written=True))
        return version

    def note(self, path: str, real: Path) -> Noted:
        """Keeps the file's current content, as the user's if it is not a known version.

        Raises: ToolError if it is too large, StorageError; then the file must not be overwritten.
        """
        content = content_now(real)
        return Noted(content, self.keep(path, real, content))

    def keep(self, path: str, real: Path, content: bytes | None) -> FileVersion | None:
        """Records this content, as the user's if it is not the newest version. Returns the newest version.

        Raises: StorageError.
        """
        if self._store is None:
            return None
        file = self.named(path)
        found = self._store.record(file, content, "user")
        if found.is_new:
            self._on_change(MemoryChange(file, real, found.version, written=False))
        return found.version

    def history(self, path: str) -> Sequence[FileVersion]:
        """The oldest first. Raises: NotFound, StorageError."""
        return self._there().history(self.named(path))

    def content(self, path: str, number: int) -> bytes:
        """Raises: NotFound, StorageError."""
        return self._there().read(self.named(path), number)

    def text(self, path: str, number: int) -> tuple[str, str]:
        """A version's text and checksum, both empty if the file was deleted, and before the first version (0).

        Raises: NotFound, StorageError.
        """
        if number == 0:
            return "", ""
        try:
            content = self.content(path, number)
        except NotFound:
            if all(version.number != number for version in self.history(path)):
                raise
            return "", ""
        return content.decode("utf-8", "replace"), checksum_of(content)

    def named(self, path: str) -> VersionedFile:
        """The key under which the file's versions are stored."""
        return VersionedFile("" if path.startswith(SHARED_PREFIX) else self._agent_id, path)

    def counts(self) -> Mapping[str, int]:
        """The number of versions of each file, the agent's own and the shared ones."""
        if self._store is None:
            return {}
        files = [*self._store.files(self._agent_id), *self._store.files("")]
        return {file.path: len(self._store.history(file)) for file in files}

    def _there(self) -> VersionStore:
        if self._store is None:
            raise NotFound("No versions of memory files are kept here.")
        return self._store


def content_now(real: Path) -> bytes | None:
    """None if there is no such file. Raises: ToolError if it is too large, StorageError."""
    return read_bytes(real) if real.is_file() else None
