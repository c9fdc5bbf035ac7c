"""Keeps the index in step with the memory files, reading only those that changed. It never changes a file."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import StorageError, ToolError
from onyx_jupyter.memory.fact_lines import fact_chunks
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.folder import MemoryFile
from onyx_jupyter.memory.targets import FACTS_FILE, MEMORY_FILE, day_of
from onyx_jupyter.protocols import Source, TextIndex
from onyx_jupyter.retrieval.chunking import chunk_markdown
from onyx_jupyter.storage.atomic_write import make_private_folder, write_text_atomically
from onyx_jupyter.storage.watch import FileStamp, Settling

log = logging.getLogger(__name__)
MAX_LINES = 100_000
SCHEMA_VERSION = 1
# A file may be written again within one tick of its clock, so a fresh timestamp doesn't identify its content.
_RACY_S = 2.0
_FILES_AT_ONCE = 16
# An agent that isn't configured here may belong to another server: its notes leave the index but never the disk.
ABSENT_DAYS = 7
_SEPARATORS = re.compile(r"[-_\s]+")
Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A file that cannot be searched, and why. `agent_id` is "" for files shared by all agents."""

    agent_id: str
    path: str
    message: str


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The result of one pass over all files. `wait_s`: when to check again the files that are still being written.

    `missing`: at least one of those files has never been in the index.
    """

    files: int
    put: Sequence[Name] = ()
    removed: Sequence[Name] = ()
    problems: Sequence[FileProblem] = ()
    wait_s: float | None = None
    missing: bool = False


@dataclass(frozen=True, slots=True)
class _Known:
    """A file's content at the time of `stamp`; `problem` says why it could not be read then."""

    stamp: FileStamp
    checksum: str
    problem: str | None = None


@dataclass
class _SyncPass:
    """One pass over all files. Unread ones stay in the index as they are, possibly out of date."""

    there: dict[Name, tuple[MemoryFiles, MemoryFile]] = field(default_factory=dict)
    folders: dict[Name, MemoryFile] = field(default_factory=dict)
    checksums: dict[Name, str] = field(default_factory=dict)
    unread: set[Name] = field(default_factory=set)
    problems: list[FileProblem] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    changed: list[Name] = field(default_factory=list)

    def may_be_there(self, name: Name) -> bool:
        """Whether the file is in a folder that could not be listed this time."""
        return any(
            folder.is_closed and owner == name[0] and folder.holds(name[1])
            for (owner, _), folder in self.folders.items()
        )


async def _ignore_report(report: SyncReport) -> None:
    """The default for `on_step`: does nothing."""


class MemorySync:
    """`memories` returns every agent's files; `seen_file` caches what was seen, next to the index, and may be lost.

    `on_progress` gets the number of files done and the total while files are indexed. `on_step` gets each report as
    soon as everything is searchable, before outside changes are kept as versions.
    """

    def __init__(
        self,
        index: TextIndex,
        memories: Callable[[], Sequence[MemoryFiles]],
        seen_file: Path,
        clock: Clock,
        *,
        settling: Settling | None = None,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
        on_step: Callable[[SyncReport], Awaitable[None]] = _ignore_report,
    ) -> None:
        self._index = index
        self._memories = memories
        self._seen_file = seen_file
        self._clock = clock
        self._settling = settling or Settling(clock)
        self._on_progress = on_progress
        self._on_step = on_step
        self._known: dict[Name, _Known] | None = None
        self._absent: dict[str, float] = {}
        self._run_lock = asyncio.Lock()

    def trust(self, file: Path) -> None:
        """Tells that Onyx wrote this real file, so it is complete."""
        self._settling.trust(file)

    async def run(self) -> SyncReport:
        """Checks every file, reads the changed ones and updates the index. Raises: IndexUnavailable."""
        async with self._run_lock:
            scan = await asyncio.to_thread(self._scan)
            try:
                report = await self._sync(scan)
                await self._on_step(report)
                return report
            finally:  # keeping versions is slow: searches must not wait for it
                await asyncio.to_thread(self._note_changes, scan)
                await asyncio.to_thread(self._save)

    async def _sync(self, scan: _SyncPass) -> SyncReport:
        owners = {owner for memory in self._memories() for owner in (memory.agent_id, "")}
        indexed = await self._index.checksums()
        wanted = [name for name, checksum in scan.checksums.items() if indexed.get(name) != checksum]
        put = await self._put(scan, wanted)
        here = {*scan.checksums, *scan.unread}
        owners |= self._stale_agents({agent_id for agent_id, _ in indexed} - owners)
        gone = [name for name in indexed if name not in here and name[0] in owners]
        removed = [name for name in gone if not scan.may_be_there(name)]
        await self._index.remove(removed)
        return SyncReport(
            files=len(scan.there),
            put=put,
            removed=removed,
            problems=scan.problems,
            wait_s=min(scan.waits, default=None),
            missing=not scan.unread <= indexed.keys(),
        )

    def _stale_agents(self, unknown: set[str]) -> set[str]:
        """Agents in the index that have not been configured here for days; restarts the count for those it returns."""
        now_s = self._clock.now().timestamp()
        since = {agent_id: self._absent.get(agent_id, now_s) for agent_id in unknown}
        gone = {agent_id for agent_id, at_s in since.items() if now_s - at_s >= ABSENT_DAYS * 86_400}
        self._absent = {agent_id: at_s for agent_id, at_s in since.items() if agent_id not in gone}
        return gone

    async def _put(self, scan: _SyncPass, wanted: Sequence[Name]) -> list[Name]:
        done: list[Name] = []
        for start in range(0, len(wanted), _FILES_AT_ONCE):
            self._on_progress(start, len(wanted))
            names = wanted[start : start + _FILES_AT_ONCE]
            sources = await asyncio.to_thread(self._sources, scan, names)
            if sources:
                await self._index.put(sources)
            done += [(source.agent, source.path) for source in sources]
        if wanted:
            self._on_progress(len(wanted), len(wanted))
        return done

    def _scan(self) -> _SyncPass:
        scan = _SyncPass()
        known = self._load()
        for memory in self._memories():
            for file in memory.folder.files():
                name = ("" if file.is_shared else memory.agent_id, file.path)
                if file.is_folder:
                    scan.folders[name] = file
                elif name not in scan.there:
                    scan.there[name] = (memory, file)
                    self._check_file(name, memory, file, scan, known)
        scan.problems += [FileProblem(*name, folder.problem or "") for name, folder in scan.folders.items()]
        for name in known.keys() - scan.there.keys():
            if not scan.may_be_there(name):
                del known[name]
                scan.changed.append(name)
        return scan

    def _check_file(
        self, name: Name, memory: MemoryFiles, file: MemoryFile, scan: _SyncPass, known: dict[Name, _Known]
    ) -> None:
        stamp = FileStamp(file.changed_ns, file.inode_changed_ns, file.size_bytes)
        before = known.get(name)
        if file.problem is not None:
            known[name] = _Known(stamp, "", file.problem)
        elif before is None or before.stamp != stamp:
            if (wait_s := self._settling.wait_s(file.real, stamp)) > 0:
                scan.unread.add(name)
                scan.waits.append(wait_s)
                return
            self._settling.done(file.real)
            read = self._read(memory, file, stamp)
            if read is None:
                return
            known[name] = read
            scan.changed.append(name)
        found = known[name]
        if found.problem is None:
            scan.checksums[name] = found.checksum
        else:
            scan.problems.append(FileProblem(*name, found.problem))
        if self._may_change_unseen(stamp):
            del known[name]

    def _read(self, memory: MemoryFiles, file: MemoryFile, stamp: FileStamp) -> _Known | None:
        """None if the file has vanished."""
        try:
            content = memory.content_now(file.path)
        except (StorageError, ToolError) as error:
            return _Known(stamp, "", str(error)) if file.real.exists() else None
        if (lines := content.text.count("\n")) > MAX_LINES:
            return _Known(stamp, "", f"{file.path} is too long for a memory file ({lines:,} lines).")
        return _Known(stamp, content.checksum)

    def _sources(self, scan: _SyncPass, names: Sequence[Name]) -> list[Source]:
        """The current content of each file, possibly newer than in `scan`; skips files that are gone or unreadable."""
        sources = []
        for name in names:
            memory, file = scan.there[name]
            try:
                content = memory.content_now(file.path)
            except (StorageError, ToolError) as error:
                log.info("%s could not be indexed: %s", file.path, error)
                continue
            sources.append(source_of(name[0], file, content.text, content.checksum))
        return sources

    def _note_changes(self, scan: _SyncPass) -> None:
        """Keeps versions of files that were changed or deleted outside of Onyx."""
        memories = {memory.agent_id: memory for memory in self._memories()}
        for agent_id, path in scan.changed:
            memory = memories.get(agent_id) if agent_id else next(iter(memories.values()), None)
            if memory is None:
                continue
            try:
                memory.note_outside_change(path)
            except (StorageError, ToolError) as error:
                log.warning("A version of %s could not be saved: %s", path, error)

    def _may_change_unseen(self, stamp: FileStamp) -> bool:
        return self._clock.now().timestamp() - stamp.changed_ns / 1e9 < _RACY_S

    def _load(self) -> dict[Name, _Known]:
        if self._known is None:
            try:
                seen = json.loads(self._seen_file.read_text("utf-8"))
                self._known, self._absent = _from_json(seen), _absent_from_json(seen)
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                self._known = {}  # every file is read again
        return self._known

    def _save(self) -> None:
        text = json.dumps(_to_json(self._known or {}) | {"absent": self._absent}, separators=(",", ":"))
        try:
            if self._seen_file.exists() and self._seen_file.read_text("utf-8") == text:
                return
            make_private_folder(self._seen_file.parent)
            write_text_atomically(self._seen_file, text)
        except (OSError, StorageError) as error:
            log.info("The state of the memory files could not be saved: %s", error)


def source_of(agent_id: str, file: MemoryFile, text: str, checksum: str) -> Source:
    """The file in the form that is indexed."""
    if file.path == FACTS_FILE:
        return Source("fact", agent_id, file.path, checksum, fact_chunks(text))
    day = day_of(file.path)
    chunks = chunk_markdown(text, title=_title(file.path), day=day)
    return Source("shared" if file.is_shared else "memory", agent_id, file.path, checksum, chunks, day)


def _title(path: str) -> str:
    """The title in the file name: `team rules` for `shared/team-rules.md`. Daily files are identified by their day."""
    return "" if path == MEMORY_FILE or day_of(path) else _SEPARATORS.sub(" ", PurePosixPath(path).stem).strip()


def _to_json(known: Mapping[Name, _Known]) -> dict[str, Any]:
    files = [
        [*name, one.stamp.changed_ns, one.stamp.inode_changed_ns, one.stamp.size_bytes, one.checksum]
        for name, one in sorted(known.items())
        if one.problem is None
    ]
    return {"schema_version": SCHEMA_VERSION, "files": files}


def _absent_from_json(line: Any) -> dict[str, float]:
    return {str(agent_id): float(at_s) for agent_id, at_s in line.get("absent", {}).items()}


def _from_json(line: Any) -> dict[Name, _Known]:
    if line["schema_version"] != SCHEMA_VERSION:
        return {}
    return {
        (str(agent), str(path)): _Known(FileStamp(int(changed), int(inode), int(size)), str(checksum))
        for agent, path, changed, inode, size, checksum in line["files"]
    }
