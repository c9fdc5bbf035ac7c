"""What an agent's memory files were before: kept at each change, told of, given back. It never writes a memory file."""

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
    """A memory file has changed; `written` by Onyx itself, so as a whole. `version` is None where none was kept."""

    file: VersionedFile
    real: Path
    version: FileVersion | None
    written: bool


@dataclass(frozen=True, slots=True)
class Noted:
    """What a file held when it was looked at, None where it was not there; `version` is None where none are kept."""

    content: bytes | None
    version: FileVersion | None

    @property
    def checksum(self) -> str:
        return checksum_of(self.content) if self.content is not None else NO_FILE


class KeptVersions:
    """The versions of one agent's files and of the shared ones; `store` None keeps none.

    Every method blocks. `on_change` is told of each change, in the thread that brought it about.
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
        """Keeps what was just written. A version that the disk refuses is noted at the next look, as its person's."""
        file, version = self.named(path), None
        if self._store is not None:
            try:
                version = self._store.record(file, data, author, session_key=session_key, restored=restored).version
            except StorageError as error:
                log.warning("No version of %s could be kept: %s", path, error)
        self._on_change(MemoryChange(file, real, version, written=True))
        return version

    def note(self, path: str, real: Path) -> Noted:
        """Keeps what the file holds now, as its person's where it is not known.

        Raises: ToolError where it is too large, StorageError; then nothing may be written over it.
        """
        content = content_now(real)
        return Noted(content, self.keep(path, real, content))

    def keep(self, path: str, real: Path, content: bytes | None) -> FileVersion | None:
        """Keeps that the file held this, as its person's where it is not the newest version; the newest version.

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
        """A version's text and checksum, both empty where the file was deleted, and before the first (0).

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
        """That file, as its versions are listed."""
        return VersionedFile("" if path.startswith(SHARED_PREFIX) else self._agent_id, path)

    def counts(self) -> Mapping[str, int]:
        """How many versions there are of each file, the agent's own and the shared ones."""
        if self._store is None:
            return {}
        files = [*self._store.files(self._agent_id), *self._store.files("")]
        return {file.path: len(self._store.history(file)) for file in files}

    def _there(self) -> VersionStore:
        if self._store is None:
            raise NotFound("No versions of memory files are kept here.")
        return self._store


def content_now(real: Path) -> bytes | None:
    """None where there is no such file. Raises: ToolError where it is too large, StorageError."""
    return read_bytes(real) if real.is_file() else None
