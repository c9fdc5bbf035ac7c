"""Questions of cells that wait for the user to trust a new or changed skill. A yes trusts the text that was shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from onyx_jupyter.clock import Clock, IdSource
from onyx_jupyter.errors import NotFound
from onyx_jupyter.events import SkillAnswer
from onyx_jupyter.features.skills.library import SkillLibrary
from onyx_jupyter.human_requests.pending_requests import ANSWER_WRITE_S, Ending, PendingRequests, Refusal, Waiting
from onyx_jupyter.skills.skill import Listed

CLOSED = "skills.question_closed"
OVER = "This question is no longer open."


@dataclass(frozen=True, slots=True)
class SkillQuestion:
    """`asker` is the connection of the cell that waits: the question ends with it."""

    id: str
    name: str
    agent_id: str | None
    asker: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class _End:
    """How a question ended; `reason` says why a skill is `unusable`."""

    outcome: SkillAnswer
    reason: str | None = None


class SkillQuestions:
    """All open questions of this server. How one ended is broadcast once; nothing is stored.

    The waiting cell polls its question; expiry is detected then.
    """

    def __init__(
        self,
        library: SkillLibrary,
        clock: Clock,
        ids: IdSource,
        timeout_s: Callable[[], float],
        broadcast: Callable[[str, dict[str, object]], None],
        *,
        answer_write_s: float = ANSWER_WRITE_S,
    ) -> None:
        self._library = library
        self._clock = clock
        self._ids = ids
        self._timeout_s = timeout_s
        self._broadcast = broadcast
        self._room = PendingRequests[SkillQuestion, _End](clock, _over, answer_write_s=answer_write_s)

    async def ask(self, name: str, agent_id: str | None, asker: str) -> SkillQuestion:
        """The question may already be closed on return: if the skill is trusted by now, or cannot be used."""
        expires = self._clock.now() + timedelta(seconds=self._timeout_s())
        question = SkillQuestion(self._ids.new(), name, agent_id, asker, expires)

        async def note(_: Ending, __: str | None) -> None:
            self._notify(question, _End("expired"))

        self._room.add(Waiting(question.id, question, expires, _End("expired"), note))
        await self.refresh(question.id)
        return question

    async def refresh(self, question_id: str) -> tuple[SkillQuestion, Listed] | None:
        """The question with its skill as it is on disk now; None if it is closed, which this call may cause."""
        waiting = self._room.waiting.get(question_id)
        if waiting is None:
            return None
        if self._room.remaining_s(waiting) == 0:
            self._close(waiting, _End("expired"))
            return None
        question = waiting.request
        try:
            item = await self._library.get(question.name, question.agent_id)
        except NotFound as error:
            self._close(waiting, _End("unusable", str(error)))
            return None
        if item.skill.kind == "tool":
            why = f"{question.name} contains tools for agents; trust it in the sidebar."
            self._close(waiting, _End("unusable", why))
            return None
        if item.state != "untrusted":
            self._close(waiting, _end(item))
        return None if self._room.waiting.get(question_id) is None else (question, item)

    async def answer(self, question_id: str, digest: str | None, by: str) -> None:
        """Trusts exactly that version; None declines. The first answer counts.

        Raises: NotFound if it is closed, StorageError; InvalidRequest if the skill has changed.
        """
        question = self._room.open(question_id).request

        async def write() -> _End:
            if await self.refresh(question_id) is None:
                raise NotFound(OVER)  # the reason was broadcast
            if digest is None:
                return _End("declined")
            return _end(await self._library.trust(question.name, digest, by, question.agent_id))

        async def notify(end: _End, ended_it: bool) -> None:
            if ended_it:  # otherwise it was broadcast already
                self._notify(question, end)

        await self._room.answer(question_id, write, notify)

    def pending(self) -> list[SkillQuestion]:
        """Open questions, oldest first."""
        return self._room.pending()

    def leave(self, asker: str) -> None:
        """Called when a connection has ended; closes its questions."""
        for waiting in [*self._room.waiting.values()]:
            if waiting.request.asker == asker:
                self._close(waiting, _End("gone"))

    def _close(self, waiting: Waiting[SkillQuestion, _End], end: _End) -> None:
        if self._room.dismiss(waiting):
            self._notify(waiting.request, end)

    def _notify(self, question: SkillQuestion, end: _End) -> None:
        data: dict[str, object] = {"questionId": question.id, "outcome": end.outcome}
        self._broadcast(CLOSED, data | ({"reason": end.reason} if end.reason else {}))


def _end(item: Listed) -> _End:
    """How a question ends whose skill is no longer `untrusted`."""
    return _End("trusted") if item.state == "ready" else _End("unusable", item.reason)


def _over(_: str, __: Refusal) -> NotFound:
    return NotFound(OVER)
