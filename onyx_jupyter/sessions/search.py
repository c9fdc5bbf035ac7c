"""Indexes conversations for search, turn by turn, in step with the transcripts.

It indexes what people and models said, never what tools brought in.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from onyx_jupyter.errors import StorageError
from onyx_jupyter.protocols import Chunk, Found, Source, TextIndex
from onyx_jupyter.retrieval.conversation_chunking import Turn, chunk_turns
from onyx_jupyter.sessions.conversation import summarise
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.sessions.store import SessionFile, SessionStore
from onyx_jupyter.storage.atomic_write import make_private_folder, write_text_atomically

log = logging.getLogger(__name__)
SCHEMA_VERSION = 1
SPEAKERS = {"user": "User", "assistant": "Assistant"}
# A session is indexed in parts, so that a new turn costs no more in a long session than in a short one.
_TURNS_A_PART = 40
_TURNS_BEFORE = 2
_SESSIONS_AT_ONCE = 16
Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class TurnPlace:
    """Where a found passage was said: the transcript entry, who said it and when (ISO 8601, UTC)."""

    entry_id: str
    role: str
    at: str


@dataclass(frozen=True, slots=True)
class _Seen:
    """A transcript's state at the time of `stamp`: the checksum of each part."""

    stamp: tuple[int, int]
    agent: str
    parts: Mapping[str, str]


class SessionSync:
    """Keeps the index in step with the transcripts, reading only those that have changed.

    `redact` removes secrets; `seen_file` caches what was seen, next to the index, and may be lost.
    """

    def __init__(
        self, index: TextIndex, store: SessionStore, seen_file: Path, redact: Callable[[str], str] = lambda text: text
    ) -> None:
        self._index = index
        self._store = store
        self._seen_file = seen_file
        self._redact = redact
        self._seen: dict[str, _Seen] | None = None
        self._run_lock = asyncio.Lock()

    async def run(self) -> int:
        """Checks every transcript. Returns how many parts were indexed. Raises: IndexUnavailable, StorageError."""
        async with self._run_lock:
            files = await asyncio.to_thread(self._store.files)
            seen = await asyncio.to_thread(self._load)
            indexed = await self._index.checksums()
            wanted = [file for file in files if not self._is_known(file, seen.get(file.session_key), indexed)]
            put = 0
            for start in range(0, len(wanted), _SESSIONS_AT_ONCE):
                put += await self._put(wanted[start : start + _SESSIONS_AT_ONCE], seen, indexed)
            for key in seen.keys() - {file.session_key for file in files}:
                del seen[key]
            there = {(one.agent, path) for one in seen.values() for path in one.parts}
            unread = {file.session_key for file in files} - seen.keys()
            gone = [name for name in indexed if name not in there and session_of(name[1]) not in unread]
            await self._index.remove(gone)
            if wanted or gone:
                await asyncio.to_thread(self._save)
            return put

    def _is_known(self, file: SessionFile, seen: _Seen | None, indexed: Mapping[Name, str]) -> bool:
        if seen is None or seen.stamp != file.stamp:
            return False
        return all(indexed.get((seen.agent, path)) == checksum for path, checksum in seen.parts.items())

    async def _put(self, files: Sequence[SessionFile], seen: dict[str, _Seen], indexed: Mapping[Name, str]) -> int:
        changed: list[Source] = []
        for file in files:
            sources = await asyncio.to_thread(self._sources, file)
            if sources is None:
                continue
            parts = {source.path: source.checksum for source in sources}
            seen[file.session_key] = _Seen(file.stamp, file.agent, parts)
            changed += [source for source in sources if indexed.get((source.agent, source.path)) != source.checksum]
        if changed:
            await self._index.put(changed)
        return len(changed)

    def _sources(self, file: SessionFile) -> list[Source] | None:
        """None if the session is gone or unreadable; it stays in the index as it was."""
        try:
            entries = self._store.read(file)
        except StorageError as error:
            log.info("Skipping a session in searches for now: %s", error)
            return None
        return list(session_sources(file.agent, file.session_key, entries, self._redact))

    def _load(self) -> dict[str, _Seen]:
        if self._seen is None:
            try:
                self._seen = _from_json(json.loads(self._seen_file.read_text("utf-8")))
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                self._seen = {}  # every session is read again
        return self._seen

    def _save(self) -> None:
        sessions = {key: [*one.stamp, one.agent, dict(one.parts)] for key, one in sorted((self._seen or {}).items())}
        try:
            make_private_folder(self._seen_file.parent)
            write_text_atomically(self._seen_file, json.dumps({"schema_version": SCHEMA_VERSION, "sessions": sessions}))
        except StorageError as error:
            log.info("The state of the session index could not be saved: %s", error)


def session_sources(
    agent: str, session_key: str, entries: Sequence[Entry], redact: Callable[[str], str] = lambda text: text
) -> Iterator[Source]:
    """The session in parts; each turn is a chunk with the day, the title and what was said before it."""
    title = redact(summarise(entries).title)
    said = [entry for entry in entries if entry.role in SPEAKERS and entry.content.strip()]
    turns = [Turn(SPEAKERS[entry.role], redact(entry.content), line) for line, entry in enumerate(said)]
    for start in range(0, len(turns), _TURNS_A_PART):
        part = turns[start : start + _TURNS_A_PART]
        before = turns[max(0, start - _TURNS_BEFORE) : start]
        day = _day(said[start].ts)
        chunks = chunk_turns([*before, *part], title=title, day=day)
        path = f"{session_key}/{start // _TURNS_A_PART}"
        told = [[title, str(day)], *([turn.speaker, turn.text, said[turn.line].id] for turn in [*before, *part])]
        checksum = hashlib.sha256(json.dumps(told).encode()).hexdigest()
        own = [chunk for chunk in chunks if chunk.start_line >= start]
        yield Source("session", agent, path, checksum, [_placed(chunk, said[chunk.start_line]) for chunk in own], day)


def session_of(path: str) -> str:
    """The key of the session that a source belongs to."""
    return path.partition("/")[0]


def turn_place(found: Found) -> TurnPlace | None:
    """Where it was said; None if it is not from a session."""
    parts = found.heading.split(" ")
    return TurnPlace(parts[2], parts[0], parts[1]) if len(parts) == 3 else None


def snippet_text(found: Found) -> str:
    """The snippet without the speaker."""
    place = turn_place(found)
    return found.snippet.removeprefix(f"{SPEAKERS.get(place.role, '')}: ") if place else found.snippet


def _placed(chunk: Chunk, entry: Entry) -> Chunk:
    """The chunk with a heading that leads back to the entry, whatever lines are added to the transcript."""
    line = chunk.start_line + 1
    return replace(chunk, start_line=line, end_line=line, heading=f"{entry.role} {entry.ts} {entry.id}")


def _day(moment: str) -> date | None:
    try:
        return datetime.fromisoformat(moment).date()
    except ValueError:
        return None


def _from_json(line: Any) -> dict[str, _Seen]:
    if line["schema_version"] != SCHEMA_VERSION:
        return {}
    return {
        str(key): _Seen((int(size), int(changed)), str(agent), {str(path): str(sum_) for path, sum_ in parts.items()})
        for key, (size, changed, agent, parts) in line["sessions"].items()
    }
