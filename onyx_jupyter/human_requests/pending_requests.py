"""Requests that wait for a person: one answer at most, saved before the caller continues; silence and Stop are none."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, Literal, TypeVar

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import OnyxError

log = logging.getLogger(__name__)
ANSWER_WRITE_S = 10.0  # past the deadline
STOP_S = 1.0  # longest that a Stop waits for the disk; half of it for an answer that is being written
MAX_REMEMBERED = 10_000
Request = TypeVar("Request")
Answer = TypeVar("Answer")
Write = Callable[[], Awaitable[Answer]]
Then = Callable[[Answer, bool], Awaitable[None]]
Ending = Literal["expired", "aborted"]
Refusal = Literal["unknown", "answered", "late", "unsaved", "closing"]  # unsaved: in time, but not saved in time
Refuse = Callable[[str, Refusal], OnyxError]


@dataclass(eq=False)
class Waiting(Generic[Request, Answer]):
    """`note` records and announces that it ended without an answer; the caller then gets `silence`."""

    id: str
    request: Request
    expires_at: datetime
    silence: Answer
    note: Callable[[Ending, str | None], Awaitable[None]]
    state: Literal["opening", "open", "writing", "over"] = "opening"
    was_tried: bool = False
    ended: tuple[Ending, str | None] | None = None
    answer: asyncio.Future[Answer] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class PendingRequests(Generic[Request, Answer]):
    """All pending requests of one kind; `waiting` holds them by id, even while an answer is being written.

    It knows nothing of what is asked. `refusal` returns the error for an answer that does not count.
    """

    def __init__(self, clock: Clock, refusal: Refuse, *, answer_write_s: float = ANSWER_WRITE_S) -> None:
        self._clock = clock
        self._refusal = refusal
        self._answer_write_s = answer_write_s
        self.waiting: dict[str, Waiting[Request, Answer]] = {}
        self._over: deque[str] = deque(maxlen=MAX_REMEMBERED)
        self._writing: set[asyncio.Task[Any]] = set()  # held, so that none is lost to the garbage collector
        self._closing = False

    async def ask(self, waiting: Waiting[Request, Answer], opened: Callable[[], Awaitable[None]]) -> Answer:
        """Waits for an answer until the time is over. Raises: what `opened` does, OnyxError of a `note`.

        `opened` records and announces the request; once announced, it can be answered. If cancelled, it ends as
        aborted, with the cancellation's message as the reason.
        """
        self.waiting[waiting.id] = waiting
        try:
            await opened()
            waiting.state = "open" if waiting.state == "opening" else waiting.state
            return await self._answered(waiting)
        except asyncio.CancelledError as cancelled:
            await asyncio.wait([self._own(self._stop(waiting, *cancelled.args[:1]))], timeout=STOP_S)
            raise
        finally:
            self.dismiss(waiting)
            waiting.answer.cancel()

    def add(self, waiting: Waiting[Request, Answer]) -> None:
        """Adds a request that can be answered from now on; it is not awaited, and the caller announces its end."""
        waiting.state = "open"
        self.waiting[waiting.id] = waiting

    def pending(self) -> list[Request]:
        """The requests that are recorded and open for an answer, oldest first."""
        return [waiting.request for waiting in self.waiting.values() if waiting.state == "open"]

    def open(self, waiting_id: str) -> Waiting[Request, Answer]:
        """The request, if it can be answered. Raises: the refusal (unknown, answered, closing)."""
        waiting = self.waiting.get(waiting_id)
        if waiting is not None and waiting.state != "writing" and not self._closing:
            return waiting
        why: Refusal = "answered" if waiting is not None or waiting_id in self._over else "unknown"
        raise self._refusal(waiting_id, "closing" if self._closing else why)

    async def answer(self, waiting_id: str, write: Write[Answer], then: Then[Answer] | None = None) -> None:
        """Saves the answer, hands it to the caller of `ask`, and calls `then`, all of it even if cancelled.

        `then` gets whether the answer ended the waiting, or a Stop meanwhile. If `write` raises, it can be answered
        again. Raises: the refusal, and what `write`, `then` and `note` do.
        """
        waiting = self.open(waiting_id)
        if self.remaining_s(waiting) == 0:  # a sleeping laptop stops timers, not time
            await self.expire(waiting)
            raise self._refusal(waiting_id, "late")
        waiting.state, waiting.was_tried = "writing", True  # at once: the second of two answers finds it answered
        await asyncio.shield(self._own(self._write(waiting, write, then)))

    def remaining_s(self, waiting: Waiting[Request, Answer]) -> float:
        """Seconds until its time is over. An answer given before that has some more time to be saved."""
        more = timedelta(seconds=self._answer_write_s if waiting.was_tried else 0)
        return max(0.0, (waiting.expires_at + more - self._clock.now()).total_seconds())

    async def expire(self, waiting: Waiting[Request, Answer]) -> None:
        """Ends a request that was not answered in time. Raises: what `note` does; it has still ended."""
        try:
            if self._end(waiting, "expired"):
                noting = self._own(self._note(waiting))
                done, _ = await asyncio.wait([noting], timeout=self._answer_write_s)
                if done and (error := noting.result()) is not None:
                    raise error
        finally:
            self._hand_over(waiting, waiting.silence)

    def dismiss(self, waiting: Waiting[Request, Answer]) -> bool:
        """Ends a request without an answer and without a note; False if it was over before."""
        was_there, waiting.state = waiting.state != "over", "over"
        if self.waiting.pop(waiting.id, None):
            self._over.append(waiting.id)
        return was_there

    def close(self) -> None:
        """The server shuts down: what waits stays open on disk for the next start, and takes no answer until then."""
        self._closing = True

    async def _answered(self, waiting: Waiting[Request, Answer]) -> Answer:
        try:
            async with asyncio.timeout(self.remaining_s(waiting)):
                return await asyncio.shield(waiting.answer)  # neither Stop nor timeout cancels the answer itself
        except TimeoutError:
            # An answer at the same moment counts, unless it cannot be written.
            if waiting.state in ("writing", "over"):
                await asyncio.wait([waiting.answer], timeout=self._answer_write_s)
            if not waiting.answer.done():
                await self.expire(waiting)
            return waiting.answer.result()

    async def _write(self, waiting: Waiting[Request, Answer], write: Write[Answer], then: Then[Answer] | None) -> None:
        try:
            answer = await write()
        except BaseException as error:
            if waiting.state == "writing":
                waiting.state = "open"  # nothing was decided: it can be answered again
            elif waiting.ended is not None and isinstance(error, Exception):
                await self._note(waiting)
            raise
        if waiting.ended is not None and waiting.ended[0] == "expired":
            raise self._refusal(waiting.id, "unsaved")
        if ended_it := waiting.state == "writing":
            self._hand_over(waiting, answer)
        if then is not None:
            await then(answer, ended_it)

    async def _stop(self, waiting: Waiting[Request, Answer], reason: str | None = None) -> None:
        """A Stop stays a Stop, even if the disk fails to note it."""
        if waiting.state == "writing":  # so that the answer is on disk before the caller's end, if the disk works
            await asyncio.wait([waiting.answer], timeout=STOP_S / 2)
        if not self._closing and waiting.state != "opening" and self._end(waiting, "aborted", reason):
            await self._note(waiting)

    def _end(self, waiting: Waiting[Request, Answer], ending: Ending, reason: str | None = None) -> bool:
        """Whether to note it now. An answer that is still being written notes it if writing fails."""
        was_open = waiting.state in ("opening", "open")
        waiting.ended = (ending, reason) if self.dismiss(waiting) else waiting.ended
        return was_open

    async def _note(self, waiting: Waiting[Request, Answer]) -> OnyxError | None:
        """Returns the disk's error if the note could not be written; every failure is logged."""
        assert waiting.ended is not None
        try:
            await waiting.note(*waiting.ended)
        except Exception as error:
            refused = error if isinstance(error, OnyxError) else None
            log.error("The end of question %s could not be recorded: %s", waiting.id, error, exc_info=refused is None)
            return refused
        return None

    def _hand_over(self, waiting: Waiting[Request, Answer], answer: Answer) -> None:
        self.dismiss(waiting)
        if not waiting.answer.done():
            waiting.answer.set_result(answer)

    def _own(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Starts work that continues when the caller is cancelled."""
        task = asyncio.create_task(work)
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)
        return task
