"""One session's file: appends entries, reads them back, and holds the lock that keeps two servers apart."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from onyx_jupyter.clock import Clock, IdSource, timestamp
from onyx_jupyter.errors import NotFound, SessionBusy
from onyx_jupyter.events import camel_data
from onyx_jupyter.messages import Message, Role, ToolCall, ToolResult, Usage, whole_text
from onyx_jupyter.protocols import Block, Compaction, Measured
from onyx_jupyter.security.secret_redactor import SecretRedactor, no_secrets
from onyx_jupyter.sessions import conversation
from onyx_jupyter.sessions.compacted import COMPACTION_FAILED, to_meta
from onyx_jupyter.sessions.entry import COMPACTION, REFLECTION, Entry, to_json
from onyx_jupyter.sessions.kept_runs import KeptRuns
from onyx_jupyter.sessions.transcript_repair import read_session, replace_damaged
from onyx_jupyter.storage.atomic_write import PRIVATE_FILE
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.jsonl import append_line

log = logging.getLogger(__name__)


class SessionTranscript:
    """The entries as they are on disk, one instance per session. `load` picks up other servers' lines."""

    def __init__(
        self,
        path: Path,
        session_key: str,
        clock: Clock,
        ids: IdSource,
        secrets: Callable[[], SecretRedactor] = no_secrets,
    ) -> None:
        self._path = path
        self._secrets = secrets
        self._session_key = session_key
        self._clock = clock
        self._ids = ids
        self._entries: list[Entry] = []
        self._kept = KeptRuns()
        self._read_size = 0
        self._damage: Sequence[str] = ()
        self._order = asyncio.Lock()
        self._server_lock = FileLock(path.with_suffix(".lock"), thread_local=False, timeout=0, mode=PRIVATE_FILE)

    @property
    def session_key(self) -> str:
        return self._session_key

    @property
    def partial_path(self) -> Path:
        """Where the text of an answer in progress is kept."""
        return self._path.with_suffix(".partial")

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    async def load(self) -> None:
        """Reads the file if it has changed. Raises: NotFound if it was deleted, StorageError."""
        async with self._order:
            await asyncio.to_thread(self._read_if_changed)

    def lock(self) -> None:
        """Claims the session for this server, until `unlock` or the end of the process.

        Raises: SessionBusy, StorageError.
        """
        with disk_errors("lock", self._path):
            try:
                self._server_lock.acquire()
            except Timeout as error:
                raise SessionBusy(
                    "Another Jupyter server is answering in this session. Wait until it is done, or start a new "
                    "session.",
                ) from error

    def unlock(self) -> None:
        """Releases the session; call it once per `lock`."""
        self._server_lock.release()

    async def append(
        self,
        role: Role,
        content: str,
        meta: Mapping[str, Any],
        *,
        calls: Sequence[ToolCall] = (),
        call_id: str | None = None,
        usage: Usage | None = None,
    ) -> Entry:
        """Appends an entry, on disk on return, even if cancelled meanwhile. Raises: NotFound, StorageError."""
        secrets = self._secrets()

        def entry() -> Entry:
            parts = {"tool_calls": tuple(map(secrets.redact_call, calls)), "tool_call_id": call_id, "usage": usage}
            return self._next(role, secrets.apply(whole_text(content)), secrets.redact_data(meta), parts)

        writing = asyncio.create_task(self._append(entry, meta.get("runId")))
        try:
            return await asyncio.shield(writing)
        except asyncio.CancelledError:
            # A Stop between the write and our record of it would make memory and disk differ.
            await asyncio.wait([writing])
            raise

    async def append_user(self, run_id: str, text: str, meta: Mapping[str, Any]) -> Entry:
        return await self.append("user", text, {"runId": run_id, **meta})

    async def append_assistant(
        self, run_id: str, text: str, calls: Sequence[ToolCall], usage: Usage | None, meta: Mapping[str, Any]
    ) -> None:
        await self.append("assistant", text, {"runId": run_id, **meta}, calls=calls, usage=usage)

    async def append_result(self, run_id: str, call: ToolCall, result: ToolResult, meta: Mapping[str, Any]) -> None:
        details: dict[str, Any] = {"runId": run_id, "tool": call.name, "ok": result.ok, **meta}
        if result.exit_code is not None:
            details["exitCode"] = result.exit_code
        if result.truncated:
            details["truncated"] = True
        if result.attachments:
            details["attachments"] = [
                {"type": a.type, "mimeType": a.mime_type, "data": a.data, "name": a.name} for a in result.attachments
            ]
        said = {"data": result.data, "label": result.label, "failure": result.failure}
        details |= {name: camel_data(part) for name, part in said.items() if part is not None}
        await self.append("tool", result.output, details, call_id=call.id)

    async def append_note(self, run_id: str, kind: str, message: str, data: Mapping[str, Any] | None) -> None:
        """Information about the run, for a person, not for a model."""
        await self.append("system", message, {"kind": "note", "runId": run_id, "note": kind, "data": dict(data or {})})

    async def append_reflection(self, run_id: str, question: str, answer: str) -> None:
        """What the model is asked about its answer; for a model, not for a person."""
        await self.append("system", question, {"kind": REFLECTION, "runId": run_id, "answer": answer})

    async def append_start(self, run_id: str) -> None:
        """The first line of a run whose message had to wait."""
        await self.append("system", "", {"kind": "run_start", "runId": run_id})

    async def append_end(
        self, run_id: str, outcome: str, details: Mapping[str, Any], usage: Usage | None = None
    ) -> None:
        """The run's last line: final, error, aborted or interrupted; `usage` is that of its calls without an end."""
        meta = {"kind": "run_end", "runId": run_id, "outcome": outcome, **details}
        await self.append("system", "", meta, usage=usage)

    async def append_compaction(
        self, run_id: str, compaction: Compaction, usage: Usage | None, facts: Mapping[str, Any]
    ) -> None:
        """The compaction replaces the older part of the conversation for models; every entry stays in the file."""
        meta = {"kind": COMPACTION, "runId": run_id, **to_meta(compaction), **facts}
        await self.append("system", compaction.summary, meta, usage=usage)

    async def append_failed_compaction(self, run_id: str, usage: Usage | None, facts: Mapping[str, Any]) -> None:
        """Records the cost of a summary that was not usable."""
        await self.append("system", "", {"kind": COMPACTION_FAILED, "runId": run_id, **facts}, usage=usage)

    def blocks(self, run_id: str, compaction: Compaction | None = None) -> Sequence[Block]:
        return conversation.blocks(self._entries, run_id, compaction, self._kept)

    def measured(self, model_id: str) -> Measured | None:
        return conversation.measured(self._entries, model_id)

    def failed_compaction(self, model_id: str) -> int:
        return conversation.failed_compaction(self._entries, model_id)

    def call_ids(self) -> set[str]:
        """The ids of all calls ever made in this session."""
        return set(self._kept.call_ids(self._entries))

    def conversation(self, run_id: str) -> Sequence[Message]:
        return conversation.conversation(self._entries, run_id, self._kept)

    def open_calls(self, run_id: str) -> Sequence[ToolCall]:
        return conversation.open_calls(self._run(run_id), run_id)

    def has_note(self, kind: str, data: Mapping[str, Any]) -> bool:
        """Whether the user was shown exactly this before."""
        return any(
            e.kind == "note" and e.meta.get("note") == kind and e.meta.get("data") == data for e in self._entries
        )

    def reflected_answer(self, run_id: str) -> str | None:
        """The answer that the model was asked to reconsider; None if it wasn't."""
        found = (e for e in self._run(run_id) if e.kind == REFLECTION)
        return next((str(entry.meta.get("answer", "")) for entry in found), None)

    def finished_calls(self, run_id: str) -> Sequence[tuple[ToolCall, ToolResult]]:
        """The run's calls that have a result, in the order of the results."""
        return conversation.finished_calls(self._run(run_id), run_id)

    def usage(self, run_id: str) -> Usage:
        return conversation.run_usage(self._run(run_id), run_id)

    def model_calls(self, run_id: str) -> int:
        """How often a model has answered in this run since the user's last message in it."""
        count = 0
        for entry in self._run(run_id):
            count = 0 if entry.kind == "steer_joined" else count + (entry.role == "assistant")
        return count

    def _run(self, run_id: str) -> Sequence[Entry]:
        return self._kept.begun(self._entries).get(run_id, ())

    async def _append(self, make: Callable[[], Entry], run_id: str | None) -> Entry:
        """`make` is called in the writing thread: it redacts text that may be long."""

        def write() -> Entry:
            self._read_if_changed()
            if self._damage:
                self._repair(run_id)
            entry = make()
            append_line(self._path, to_json(entry))
            self._read_size = self._path.stat().st_size
            return entry

        async with self._order:
            entry = await asyncio.to_thread(write)
            self._entries.append(entry)
            return entry

    def _next(self, role: Role, content: str, meta: Mapping[str, Any], parts: Mapping[str, Any]) -> Entry:
        parent = self._entries[-1].id if self._entries else None
        return Entry(self._ids.new(), parent, timestamp(self._clock.now()), role, content, meta=meta, **parts)

    def _repair(self, run_id: str | None) -> None:
        """Replaces a damaged file before anything is appended, and notifies the user once."""
        try:
            self._server_lock.acquire()
        except Timeout:
            return  # another server is working in it, and repairs it when it writes
        try:
            kept = self._path.with_name(f"{self._path.name}.damaged-{self._clock.now():%Y%m%dT%H%M%S%fZ}")
            data = {"damage": list(self._damage), "kept": kept.name}
            note = f"This conversation's file was damaged and has been repaired. The original is kept as {kept.name}."
            meta = {"kind": "note", "note": "repaired", "data": data} | ({"runId": run_id} if run_id else {})
            entries = [*self._entries, self._next("system", note, meta, {})]
            replace_damaged(self._path, [to_json(entry) for entry in entries], kept)
            log.warning("%s was damaged and has been repaired: %s", self._path.name, "; ".join(self._damage))
            self._entries, self._damage = entries, ()
            self._read_size = self._path.stat().st_size
        finally:
            self._server_lock.release()

    def _read_if_changed(self) -> None:
        with disk_errors("read", self._path):
            size = self._path.stat().st_size if self._path.exists() else 0
        if size == self._read_size:
            return
        if size == 0:
            raise NotFound(f"The session {self._session_key!r} was deleted. Start a new one.")
        reading = read_session(self._path)
        self._entries, self._damage = list(reading.entries), reading.damage
        self._read_size = size
