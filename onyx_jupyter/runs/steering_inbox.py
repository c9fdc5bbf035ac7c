"""Messages that the user sends to a run in progress: on disk at once, joined at the run's next step."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from onyx_jupyter.events import ChatJoined, ChatNote, ChatSteered, RunEvent
from onyx_jupyter.runs.modes import MODE_NOTE, RunMode
from onyx_jupyter.runs.shielded_write import finish_despite_cancel
from onyx_jupyter.sessions.attachments import as_shown
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.sessions.transcript import SessionTranscript


class SteeringInbox:
    """One run's inbox. Each message taken joins the run, unless the run ends with an error or a Stop before.

    `on_join` is called with each message that joins, since the model has it from then on.
    """

    def __init__(
        self, run_id: str, transcript: SessionTranscript, mode: RunMode, emit: Callable[[RunEvent], None]
    ) -> None:
        self.run_id = run_id
        self.mode = mode
        self.is_open = True
        self.on_join: Callable[[Entry], None] = lambda message: None
        self._transcript = transcript
        self._emit = emit
        self._messages: list[Entry] = []
        self._arrived = asyncio.Event()
        self._being_written = 0
        self._written = asyncio.Event()

    async def take(self, text: str, meta: Mapping[str, Any]) -> None:
        """The message is on disk when it returns. Raises: StorageError."""
        self._being_written += 1
        try:
            writing = self._transcript.append_user(self.run_id, text, {**meta, "steer": True})
            await finish_despite_cancel(writing, self._accept)
        finally:
            self._being_written -= 1
            self._written.set()

    @property
    def waiting(self) -> bool:
        return bool(self._messages)

    async def arrival(self) -> None:
        await self._arrived.wait()

    async def join(self) -> bool:
        joining = tuple(self._messages)
        if not joining:
            return False
        ids = tuple(message.id for message in joining)
        facts = {"kind": "steer_joined", "runId": self.run_id, "messageIds": list(ids)}
        await self._transcript.append("system", "", facts)
        del self._messages[: len(ids)]
        if not self._messages:
            self._arrived.clear()
        for message in joining:
            self.on_join(message)
        self._emit(ChatJoined(self.run_id, ids))
        notice = self.mode.notice(joining)
        if notice is not None:
            data = {"mode": self.mode.current}
            await self._transcript.append_note(self.run_id, MODE_NOTE, notice, data)
            self._emit(ChatNote(self.run_id, MODE_NOTE, notice, data))
        return True

    async def join_or_close(self) -> bool:
        while self._being_written:  # taken before the run's last reply, so it belongs to the run
            self._written.clear()
            await self._written.wait()
        if await self.join():
            return True
        self.close()
        return False

    def close(self) -> None:
        self.is_open = False

    def _accept(self, message: Entry) -> None:
        self.mode.take(message)
        self._messages.append(message)
        self._arrived.set()
        self._emit(ChatSteered(self.run_id, message.id, message.content, as_shown(message).context))
