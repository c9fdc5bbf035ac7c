"""The questions of cells that wait for a yes to a new or changed skill. A yes is trust in the text that was shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from onyx_jupyter.clock import Clock, IdSource
from onyx_jupyter.errors import NotFound
from onyx_jupyter.events import SkillAnswer
from onyx_jupyter.features.skills.library import SkillLibrary
from onyx_jupyter.human_requests.pending import ANSWER_WRITE_S, Ending, PendingRequests, Refusal, Waiting
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
    """Every open one of this server. How one ended is told to everybody, once; nothing of it is kept.

    The cell that waits asks again and again how its question stands, which is when the end of its time is found.
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
        """It may be over when this returns: the skill is trusted by now, or cannot be used."""
        expires = self._clock.now() + timedelta(seconds=self._timeout_s())
        question = SkillQuestion(self._ids.new(), name, agent_id, asker, expires)

        async def note(_: Ending, __: str | None) -> None:
            self._tell(question, _End("expired"))

        self._room.add(Waiting(question.id, question, expires, _End("expired"), note))
        await self.look(question.id)
        return question

    async def look(self, question_id: str) -> tuple[SkillQuestion, Listed] | None:
        """The question with its skill as it is on disk now, or None where it is over, which this may find out."""
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
            why = f"{question.name} holds tools for agents, and is trusted in the sidebar."
            self._close(waiting, _End("unusable", why))
            return None
        if item.state != "untrusted":
            self._close(waiting, _end(item))
        return None if self._room.waiting.get(question_id) is None else (question, item)

    async def answer(self, question_id: str, digest: str | None, by: str) -> None:
        """Trusts that very version, None declines. The first answer counts.

        Raises: NotFound where it is over, StorageError; InvalidRequest where the skill is another one by now.
        """
        question = self._room.open(question_id).request

        async def write() -> _End:
            if await self.look(question_id) is None:
                raise NotFound(OVER)  # why, everybody has been told
            if digest is None:
                return _End("declined")
            return _end(await self._library.trust(question.name, digest, by, question.agent_id))

        async def tell(end: _End, ended_it: bool) -> None:
            if ended_it:  # else it has been told
                self._tell(question, end)

        await self._room.answer(question_id, write, tell)

    def pending(self) -> list[SkillQuestion]:
        """Open questions, the oldest first."""
        return self._room.pending()

    def leave(self, asker: str) -> None:
        """That connection has ended: nobody waits for its answers any more."""
        for waiting in [*self._room.waiting.values()]:
            if waiting.request.asker == asker:
                self._close(waiting, _End("gone"))

    def _close(self, waiting: Waiting[SkillQuestion, _End], end: _End) -> None:
        if self._room.dismiss(waiting):
            self._tell(waiting.request, end)

    def _tell(self, question: SkillQuestion, end: _End) -> None:
        data: dict[str, object] = {"questionId": question.id, "outcome": end.outcome}
        self._broadcast(CLOSED, data | ({"reason": end.reason} if end.reason else {}))


def _end(item: Listed) -> _End:
    """Of the question for a skill that is not `untrusted` any more."""
    return _End("trusted") if item.state == "ready" else _End("unusable", item.reason)


def _over(_: str, __: Refusal) -> NotFound:
    return NotFound(OVER)
