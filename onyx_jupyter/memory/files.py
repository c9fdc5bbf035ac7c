"""The Markdown files of one agent's workspace, read and added to. It never rewrites what a person wrote."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, tzinfo
from pathlib import Path

from filelock import FileLock, Timeout

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import PathNotAllowed, StorageError, ToolError
from onyx_jupyter.memory.targets import DAILY_FOLDER, MEMORY_FILE, add_daily_entry, add_to_section, memory_target
from onyx_jupyter.memory.word_search import Passage, search_words
from onyx_jupyter.protocols import BootstrapFile
from onyx_jupyter.storage.atomic_write import PRIVATE_FILE, make_private_folder, write_text_atomically
from onyx_jupyter.storage.disk_errors import disk_errors

BOOTSTRAP_FILES = ("SOUL.md", "IDENTITY.md", "USER.md", "AGENTS.md", "TOOLS.md", MEMORY_FILE)
PROJECT_FILE = "AGENTS.md"
PROJECT_LABEL = "AGENTS.md of this project"
MAX_BOOTSTRAP_FILE_CHARS = 20_000
MAX_BOOTSTRAP_CHARS = 60_000
MAX_FILE_BYTES = 10 * 1024 * 1024
_LOCK_S = 10.0
_FILES_NAMED = 20


class MemoryFiles:
    """One agent's memory. `project` is the server's root, whose AGENTS.md is laid over the agent's own.

    `time_zone` decides which day it is and what the clock on the wall says; None is the machine's.
    """

    def __init__(
        self, workspace: Path, clock: Clock, *, project: Path | None = None, time_zone: tzinfo | None = None
    ) -> None:
        self._workspace = workspace.resolve()
        self._project = project.resolve() if project is not None else None
        self._clock = clock
        self._time_zone = time_zone

    def local_now(self) -> datetime:
        """The moment by which today's file is chosen."""
        return self._clock.now().astimezone(self._time_zone)

    async def read(self, path: str, *, start_line: int = 1, line_count: int | None = None) -> str:
        """Lines of a Markdown file, named from the workspace. Raises: ToolError, StorageError."""
        return await asyncio.to_thread(self._read, path, start_line, line_count)

    async def write(self, content: str, target: str | None = None) -> str:
        """Adds a memory and gives the path written, from the workspace. Raises: ToolError, StorageError."""
        return await asyncio.to_thread(self._write, content, target)

    async def bootstrap_files(self) -> Sequence[BootstrapFile]:
        """In the prompt's order; one over its cap ends with a line that says how to read the rest."""
        return await asyncio.to_thread(self._bootstrap_files)

    async def search(self, query: str, limit: int) -> Sequence[Passage]:
        """The passages that hold words of the query, the best first. Raises: StorageError."""
        return await asyncio.to_thread(self._search, query, limit)

    def _search(self, query: str, limit: int) -> Sequence[Passage]:
        texts = {}
        for file in self._files():
            with suppress(ToolError):  # one that is no text, or far too large, keeps nobody from the others
                texts[file.relative_to(self._workspace).as_posix()] = _text_of(file)
        return search_words(texts, query, limit)

    def _read(self, path: str, start_line: int, line_count: int | None) -> str:
        file = self._inside(path)
        if file.suffix.lower() != ".md":
            raise ToolError(f"{path!r} is no memory file: they are Markdown and end in .md.")
        if not file.is_file():
            raise ToolError(f"There is no memory file {path!r}. There are: {self._names()}.")
        lines = list(io.StringIO(_text_of(file)))
        if start_line > max(len(lines), 1):
            raise ToolError(f"{path!r} has {len(lines)} lines, so there is none from line {start_line} on.")
        end = None if line_count is None else start_line - 1 + line_count
        return "".join(lines[start_line - 1 : end])

    def _write(self, content: str, target: str | None) -> str:
        content = _clean(content)
        if not content:
            raise ToolError("There is nothing to remember: the content is empty.")
        now = self.local_now()
        place = memory_target(target, now)
        file = self._inside(place.path)
        make_private_folder(file.parent)
        with self._lock():
            old = _text_of(file) if file.exists() else ""
            text = old.replace("\r\n", "\n")
            if place.is_daily:
                text = add_daily_entry(text, place, now, content)
            else:
                text = add_to_section(text, place.section, content)
            write_text_atomically(file, text.replace("\n", "\r\n") if "\r\n" in old else text)
        return place.path

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Keeps a second process on the same workspace waiting."""
        lock = FileLock(self._workspace / ".memory.lock", timeout=_LOCK_S, mode=PRIVATE_FILE)
        with disk_errors("lock", self._workspace):
            try:
                lock.acquire()
            except Timeout as error:
                raise StorageError(
                    f"The memory could not be written: another process has kept it locked for {_LOCK_S:g} s.",
                    hint="Try again; if it stays so, another Onyx on the same folder hangs.",
                ) from error
        try:
            yield
        finally:
            lock.release()

    def _bootstrap_files(self) -> Sequence[BootstrapFile]:
        files = {name: self._workspace / name for name in BOOTSTRAP_FILES}
        if self._project is not None and self._project != self._workspace:
            overlay = (self._project / PROJECT_FILE).resolve()
            if self._project in overlay.parents:  # a link out of the project is nobody's instruction
                files[PROJECT_LABEL] = overlay
        texts = ((name, _bootstrap_text(name, file)) for name, file in files.items())
        found, room = [], MAX_BOOTSTRAP_CHARS
        for name, text in texts:
            if text:
                found.append(_within(name, text, min(room, MAX_BOOTSTRAP_FILE_CHARS)))
                room -= len(text) - found[-1].left_out
        return found

    def _inside(self, path: str) -> Path:
        """The real file inside the workspace. Raises: PathNotAllowed."""
        try:
            file = (self._workspace / path.removeprefix("onyx:")).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise PathNotAllowed(f"The path {path!r} cannot be resolved: {error}.") from error
        if self._workspace not in file.parents or file.resolve() != file:  # the latter: a loop of links hid one
            raise PathNotAllowed(f"The path {path!r} lies outside the agent's workspace {self._workspace}.")
        return file

    def _files(self) -> Sequence[Path]:
        """Those that are the memory, in the order of their names; a link that leads elsewhere is none of them."""
        found = [*self._workspace.glob("*.md"), *self._workspace.glob(f"{DAILY_FOLDER}/*.md")]
        return sorted(file for file in found if file.is_file() and self._workspace in file.resolve().parents)

    def _names(self) -> str:
        names = [file.relative_to(self._workspace).as_posix() for file in self._files()]
        more = f" and {len(names) - _FILES_NAMED} older" if len(names) > _FILES_NAMED else ""
        return (", ".join(names[-_FILES_NAMED:]) or "none") + more


def _clean(content: str) -> str:
    """With Unix line ends, and without what UTF-8 cannot hold (half of a surrogate pair)."""
    content = content.replace("\r\n", "\n").replace("\r", "\n").strip()
    return content.encode("utf-8", "replace").decode("utf-8")


def _text_of(file: Path) -> str:
    with disk_errors("read", file):
        size_bytes = file.stat().st_size
        if size_bytes > MAX_FILE_BYTES:
            raise ToolError(f"{file.name} is too large for a memory file ({size_bytes:,} bytes).")
        raw = file.read_bytes()
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ToolError(f"{file.name} is not UTF-8 text ({error.reason} at byte {error.start}).") from error


def _bootstrap_text(name: str, file: Path) -> str:
    """Empty where there is nothing to say or nothing that can be read: a prompt is made all the same."""
    try:
        text = _text_of(file) if file.is_file() else ""
    except (StorageError, ToolError) as error:
        return f"[{name} could not be read: {error}]"
    return text if text.strip() else ""


def _within(name: str, text: str, cap: int) -> BootstrapFile:
    """The file, cut where it is over its cap; the last line then says so."""
    left_out = max(0, len(text) - cap)
    if left_out:
        text = f"{text[:cap]}\n[… {left_out} more characters of {name} are not shown here …]\n"
    return BootstrapFile(name, text, size=cap + left_out if left_out else len(text), left_out=left_out)
