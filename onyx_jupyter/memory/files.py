"""The Markdown files of one agent's memory: read, add to, replace, restore. Every change keeps the former text.

All writes to memory files go through here, or through `writing`; `exchange` replaces the contents on disk.
"""

from __future__ import annotations

import asyncio
import io
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, tzinfo
from pathlib import Path

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import StorageError, ToolError
from onyx_jupyter.memory.bootstrap import read_bootstrap_files
from onyx_jupyter.memory.file_replacement import FileReplacement
from onyx_jupyter.memory.folder import (
    NO_FILE,
    MemoryFile,
    MemoryFolder,
    decoded,
    read_bytes,
    read_text,
    refuse_unreadable,
)
from onyx_jupyter.memory.kept_versions import KeptVersions, MemoryChange, content_now
from onyx_jupyter.memory.targets import FACTS_FILE, MemoryTarget, add_daily_entry, add_to_section, memory_target
from onyx_jupyter.memory.word_search import Passage, search_words
from onyx_jupyter.protocols import BootstrapFile, FileVersion, MemoryAuthor, MemoryText
from onyx_jupyter.security.confusables import remove_invisible
from onyx_jupyter.storage.atomic_swap import Check, leftover_of
from onyx_jupyter.storage.versions import VersionStore, checksum_of

log = logging.getLogger(__name__)
_FILES_NAMED = 20
# They change how their neighbours look (Persian, emoji) and are not text by themselves.
_JOINERS = re.compile("([\u200c\u200d\ufe0e\ufe0f])")


class MemoryFiles:
    """One agent's memory.

    `time_zone` decides the current day and the local time; None is the machine's. `shared` holds the files of all
    agents; without `versions` none are kept; `on_change` is called for each write, from any thread.
    """

    def __init__(
        self,
        workspace: Path,
        clock: Clock,
        *,
        agent_id: str = "main",
        shared: Path | None = None,
        versions: VersionStore | None = None,
        on_change: Callable[[MemoryChange], None] = lambda change: None,
        time_zone: tzinfo | None = None,
    ) -> None:
        self.folder = MemoryFolder(workspace, shared)
        self.agent_id = agent_id
        self.kept = KeptVersions(agent_id, versions, on_change)
        self._exchange = FileReplacement(self.folder, self.kept)
        self._clock = clock
        self._time_zone = time_zone

    # ── reading ─────────────────────────────────────────────────────────────────────────────────────

    def local_now(self) -> datetime:
        """The local time that decides which file is today's."""
        return self._clock.now().astimezone(self._time_zone)

    async def read(self, path: str, *, start_line: int = 1, line_count: int | None = None) -> str:
        """Lines of a Markdown file, given by its path from the workspace. Raises: ToolError, StorageError."""
        return await asyncio.to_thread(self._read, path, start_line, line_count)

    async def content(self, path: str) -> MemoryText:
        """The whole file; outside changes are kept as a version. Raises: ToolError, StorageError."""
        return await asyncio.to_thread(self._content, path)

    async def bootstrap_files(self) -> Sequence[BootstrapFile]:
        """In prompt order; a file over its cap ends with a line that says how to read the rest."""
        return await asyncio.to_thread(read_bootstrap_files, self.folder.workspace)

    async def search(self, query: str, limit: int) -> Sequence[Passage]:
        """The passages that contain words of the query, best first; unreadable files are left out."""
        return await asyncio.to_thread(self._search, query, limit)

    # ── changing ────────────────────────────────────────────────────────────────────────────────────

    async def write(
        self,
        content: str,
        target: str | None = None,
        *,
        author: MemoryAuthor = "agent",
        session_key: str | None = None,
    ) -> str:
        """Adds a memory and returns the path written, from the workspace. Raises: ToolError, StorageError."""
        return await asyncio.to_thread(self._write, content, target, author, session_key)

    async def replace(
        self,
        path: str,
        text: str,
        *,
        based_on: str,
        author: MemoryAuthor,
        session_key: str | None = None,
        restored: int | None = None,
    ) -> FileVersion | None:
        """Replaces the whole file. Returns the new version, None if none are kept.

        `based_on` is the checksum of the text that the new one was made from, `NO_FILE` if there was none.
        Raises: MemoryConflict if the file holds something else by now, ToolError, StorageError.
        """
        return await asyncio.to_thread(self._replace, path, text, based_on, author, session_key, restored)

    async def restore(
        self,
        path: str,
        number: int,
        *,
        author: MemoryAuthor,
        based_on: str | None = None,
        session_key: str | None = None,
    ) -> FileVersion | None:
        """Makes a former version the current one, as a new version.

        `based_on` is the checksum of what the user saw; None accepts the file as it is.
        Raises: NotFound, MemoryConflict, ToolError, StorageError.
        """
        return await asyncio.to_thread(self._restore, path, number, author, based_on, session_key)

    def state(self, real: Path) -> str | None:
        """The checksum of a memory file as it is now, `NO_FILE` if it does not exist; None for other files.

        Blocks. Raises: ToolError, StorageError.
        """
        if self.folder.name_of(real) is None:
            return None
        content = content_now(real)
        return checksum_of(content) if content is not None else NO_FILE

    @contextmanager
    def writing(
        self,
        real: Path,
        content: bytes,
        *,
        author: MemoryAuthor,
        session_key: str | None = None,
        based_on: str | None = None,
    ) -> Iterator[Check]:
        """Wraps a write of `content` to a real file: for a memory file, both states are kept.

        `based_on` is the file's `state` from which the content was made. Call the yielded check with the content that
        is about to be replaced: it raises if the file was saved by someone else since.
        Blocks; call it in a worker thread. Raises: MemoryConflict, ToolError, StorageError.
        """
        path = self.folder.name_of(real)
        if path is None:
            yield lambda now: None
            return
        with self._exchange.around(path, real, content, based_on, author, session_key) as refuse_other:
            yield refuse_other

    def why_asked(self, real: Path) -> str:
        """Why a person must approve a write, else "": later conversations read memory, so no mode or grant applies."""
        left = leftover_of(real.name)  # its content will end up in the file
        file = real.with_name(left) if left else real
        return "later conversations are told what stands in this file" if self.folder.name_of(file) else ""

    # ── versions ────────────────────────────────────────────────────────────────────────────────────

    async def versions(self, path: str) -> Sequence[FileVersion]:
        """The file's versions, oldest first. Raises: ToolError, StorageError."""
        return await asyncio.to_thread(self._versions, path)

    async def version_content(self, path: str, number: int) -> MemoryText:
        """The content of that version, empty if the file was deleted. Raises: NotFound, ToolError, StorageError."""
        return await asyncio.to_thread(self._version_content, path, number)

    def note_outside_change(self, path: str, *, is_held: bool = False) -> FileVersion | None:
        """Keeps content that Onyx did not write as the user's version. Returns the newest version.

        `is_held`: the caller holds the folder's lock. Blocks; call it in a worker thread. Raises: ToolError,
        StorageError.
        """
        return self._exchange.note(*self._named(path), is_held=is_held)

    def content_now(self, path: str) -> MemoryText:
        """The current content, without keeping a version. Blocks. Raises: ToolError, StorageError."""
        path, real = self._named(path)
        if not real.is_file():
            raise ToolError(f"There is no memory file {path!r}. Available: {self._names()}.")
        raw = read_bytes(real)
        return MemoryText(path, decoded(path, raw), checksum_of(raw))

    # ── internals ───────────────────────────────────────────────────────────────────────────────────

    def _content(self, path: str) -> MemoryText:
        try:
            self.note_outside_change(path)
        except StorageError as error:  # a file can be read even if no version can be written
            log.warning("A version of %s could not be saved: %s", path, error)
        return self.content_now(path)

    def _search(self, query: str, limit: int) -> Sequence[Passage]:
        texts = {}
        for file in self._readable():
            try:
                texts[file.path] = read_text(file.real)
            except (StorageError, ToolError) as error:  # doesn't block the other files; the index's status reports it
                log.info("%s is not searched: %s", file.path, error)
        return search_words(texts, query, limit)

    def _read(self, path: str, start_line: int, line_count: int | None) -> str:
        path, real = self._existing(path)
        lines = list(io.StringIO(read_text(real)))
        if start_line > max(len(lines), 1):
            raise ToolError(f"{path!r} has {len(lines)} lines, so there is none from line {start_line} on.")
        end = None if line_count is None else start_line - 1 + line_count
        return "".join(lines[start_line - 1 : end])

    def _write(self, content: str, target: str | None, author: MemoryAuthor, session_key: str | None) -> str:
        content = _clean(content)
        if not content:
            raise ToolError("There is nothing to remember: the content is empty.")
        now = self.local_now()
        place = memory_target(target, now)
        path, real = self._named(place.path)

        def added(old: bytes) -> bytes:
            return _added(decoded(path, old), place, now, content).encode()

        self._exchange.rework(path, real, added, author, session_key)
        return path

    def _replace(
        self, path: str, text: str, based_on: str, author: MemoryAuthor, session_key: str | None, restored: int | None
    ) -> FileVersion | None:
        path, real = self._named(path)
        data = text.encode("utf-8", "replace")
        refuse_unreadable(path, data)
        return self._exchange.put(path, real, data, based_on, author, session_key, restored)

    def _restore(
        self, path: str, number: int, author: MemoryAuthor, based_on: str | None, session_key: str | None
    ) -> FileVersion | None:
        path, real = self._named(path)
        data = self.kept.content(path, number)  # the user's own data, so no checks of its content
        return self._exchange.put(path, real, data, based_on, author, session_key, number)

    def _versions(self, path: str) -> Sequence[FileVersion]:
        path, real = self._named(path)
        with suppress(ToolError):  # too large: reading it reports that; the older versions are still there
            self._exchange.note(path, real)
        return self.kept.history(path)

    def _version_content(self, path: str, number: int) -> MemoryText:
        path, _ = self._named(path)
        return MemoryText(path, *self.kept.text(path, number))

    def _named(self, path: str) -> tuple[str, Path]:
        """The path as cited, and the real one. Raises: ToolError if it is not a memory file."""
        real = self.folder.resolve(path)
        name = self.folder.name_of(real)
        if name is None:
            raise ToolError(f"{path!r} is not a memory file. Available: {self._names()}.")
        return name, real

    def _existing(self, path: str) -> tuple[str, Path]:
        real = self.folder.resolve(path)
        if self.folder.name_of(real) != FACTS_FILE and real.suffix.lower() != ".md":
            raise ToolError(f"{path!r} is not a memory file: those are Markdown and end in .md.")
        if not real.is_file():
            raise ToolError(f"There is no memory file {path!r}. Available: {self._names()}.")
        return path.removeprefix("onyx:"), real

    def _readable(self) -> Sequence[MemoryFile]:
        return [file for file in self.folder.files() if file.problem is None]

    def _names(self) -> str:
        names = [file.path for file in self._readable()]
        more = f" and {len(names) - _FILES_NAMED} older" if len(names) > _FILES_NAMED else ""
        return (", ".join(names[-_FILES_NAMED:]) or "none") + more


def _added(text: str, place: MemoryTarget, now: datetime, content: str) -> str:
    if place.is_daily:
        return add_daily_entry(text, place, now, content)
    return add_to_section(text, place.section, content)


def _clean(content: str) -> str:
    """With Unix line endings, and without characters that a user who approves the text can't see (NUL, tags)."""
    pieces = _JOINERS.split(content.replace("\r\n", "\n"))
    return "".join(piece if _JOINERS.fullmatch(piece) else remove_invisible(piece)[0] for piece in pieces).strip()
