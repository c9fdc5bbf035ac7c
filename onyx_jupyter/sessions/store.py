"""Creates, finds and lists the sessions of one ONYX_HOME."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from onyx_jupyter.clock import Clock, IdSource
from onyx_jupyter.errors import NotFound, StorageError
from onyx_jupyter.security.secret_redactor import SecretRedactor, no_secrets
from onyx_jupyter.sessions.conversation import Summary, summarise
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.sessions.transcript import SessionTranscript
from onyx_jupyter.sessions.transcript_repair import read_session
from onyx_jupyter.storage.atomic_write import make_private_folder
from onyx_jupyter.storage.disk_errors import disk_errors

log = logging.getLogger(__name__)
_SESSION_KEY = re.compile(r"[0-9A-Za-z_-]{1,64}")


@dataclass(frozen=True, slots=True)
class ListedSession:
    """One session in a list."""

    session_key: str
    summary: Summary


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A session's file; `stamp` (size, modification time in nanoseconds) shows whether it has changed since."""

    session_key: str
    agent: str
    path: Path
    stamp: tuple[int, int]


class SessionStore:
    """Sessions by key; each is stored in `sessions/<agent>/<key>.jsonl`."""

    def __init__(
        self, folder: Path, clock: Clock, ids: IdSource, secrets: Callable[[], SecretRedactor] = no_secrets
    ) -> None:
        """`secrets` returns the filter for everything that is written."""
        self._folder = folder
        self._secrets = secrets
        self._clock = clock
        self._ids = ids
        self._open: dict[str, SessionTranscript] = {}
        self._summaries: dict[Path, tuple[tuple[int, int], Summary]] = {}

    async def create(self, agent_id: str, title: str | None, model: str | None) -> SessionTranscript:
        """A new session with its first line on disk. Raises: StorageError."""
        key = self._ids.new()
        folder = self._folder / agent_id
        await asyncio.to_thread(make_private_folder, folder)
        transcript = self._transcript(folder / f"{key}.jsonl", key)
        facts = {"kind": "session", "agentId": agent_id, "title": title, "model": model}
        await transcript.append("system", "", {name: value for name, value in facts.items() if value is not None})
        self._open[key] = transcript
        return transcript

    async def get(self, session_key: str) -> SessionTranscript:
        """The session with everything that is on disk now. Raises: NotFound, StorageError."""
        transcript = self._open.get(session_key)
        if transcript is None:
            path = await asyncio.to_thread(self._find, session_key)
            # Two callers may get here concurrently: the first one's object wins.
            transcript = self._open.setdefault(session_key, self._transcript(path, session_key))
        try:
            await transcript.load()
        except NotFound:
            self._open.pop(session_key, None)
            raise
        return transcript

    async def delete(self, session_key: str) -> None:
        """Removes the session's files; nothing may be running in it. Raises: NotFound, StorageError."""
        path = await asyncio.to_thread(self._find, session_key)
        self._open.pop(session_key, None)
        self._summaries.pop(path, None)
        with disk_errors("delete", path):
            await asyncio.to_thread(path.unlink)
            await asyncio.to_thread(path.with_suffix(".lock").unlink, missing_ok=True)

    async def list(self) -> Sequence[ListedSession]:
        """Every readable session, most recently used first. Raises: StorageError."""
        listed = await asyncio.to_thread(self._summarise_all)
        return sorted(listed, key=lambda item: item.summary.updated_at, reverse=True)

    def files(self) -> Sequence[SessionFile]:
        """Every session's file as it is now. Blocks. Raises: StorageError."""
        with disk_errors("list", self._folder):
            paths = sorted(self._folder.glob("*/*.jsonl"))
        found = []
        for path in paths:
            with suppress(OSError):  # deleted meanwhile
                status = path.stat()
                found.append(SessionFile(path.stem, path.parent.name, path, (status.st_size, status.st_mtime_ns)))
        return found

    def read(self, file: SessionFile) -> Sequence[Entry]:
        """The session's entries, without keeping it open. Blocks. Raises: StorageError."""
        return read_session(file.path).entries

    def _transcript(self, path: Path, session_key: str) -> SessionTranscript:
        return SessionTranscript(path, session_key, self._clock, self._ids, self._secrets)

    def _summarise_all(self) -> Sequence[ListedSession]:
        with disk_errors("list", self._folder):
            paths = list(self._folder.glob("*/*.jsonl"))
        listed = []
        for path in paths:
            try:
                listed.append(ListedSession(path.stem, self._summary(path)))
            except StorageError as error:
                log.warning("A session is not listed: %s", error)
        return listed

    def _summary(self, path: Path) -> Summary:
        """Reads the file only if it has changed: listing many sessions costs one `stat` each."""
        with disk_errors("read", path):
            status = path.stat()
        version = (status.st_size, status.st_mtime_ns)
        known = self._summaries.get(path)
        if known is None or known[0] != version:
            known = (version, summarise(read_session(path).entries))
            self._summaries[path] = known
        return known[1]

    def _find(self, session_key: str) -> Path:
        if _SESSION_KEY.fullmatch(session_key):
            for path in self._folder.glob(f"*/{session_key}.jsonl"):
                return path
        raise NotFound(
            f"There is no session {session_key!r}. It may have been deleted; sessions.list shows all sessions."
        )
