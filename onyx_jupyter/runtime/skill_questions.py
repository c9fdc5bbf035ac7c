"""The questions of cells that wait for a yes to a new or changed skill. A yes is trust in the text that was shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from onyx_jupyter.clock import Clock, IdSource
from onyx_jupyter.errors import NotFound
from onyx_jupyter.events import SkillAnswer
from onyx_jupyter.runtime.skill_library import SkillLibrary
from onyx_jupyter.skills.skill import Listed

CLOSED = "skills.question_closed"


@dataclass(frozen=True, slots=True)
class SkillQuestion:
    """`asker` is the connection of the cell that waits: the question ends with it."""

    id: str
    name: str
    agent_id: str | None
    asker: str
    expires_at: datetime


class SkillQuestions:
    """Every open one of this server. How one ended is told to everybody, once; nothing of it is kept."""

    def __init__(
        self,
        library: SkillLibrary,
        clock: Clock,
        ids: IdSource,
        timeout_s: Callable[[], float],
        broadcast: Callable[[str, dict[str, object]], None],
    ) -> None:
        self._library = library
        self._clock = clock
        self._ids = ids
        self._timeout_s = timeout_s
        self._broadcast = broadcast
        self._open: dict[str, SkillQuestion] = {}
        self._answering = asyncio.Lock()

    async def ask(self, name: str, agent_id: str | None, asker: str) -> SkillQuestion:
        """It may be over when this returns: the skill is trusted by now, or cannot be used."""
        expires = self._clock.now() + timedelta(seconds=self._timeout_s())
        question = SkillQuestion(self._ids.new(), name, agent_id, asker, expires)
        self._open[question.id] = question
        await self.look(question.id)
        return question

    async def look(self, question_id: str) -> tuple[SkillQuestion, Listed] | None:
        """The question with its skill as it is on disk now, or None where it is over, which this may find out."""
        question = self._open.get(question_id)
        if question is None:
            return None
        if self._clock.now() >= question.expires_at:
            self._close(question, "expired")
            return None
        try:
            item = await self._library.get(question.name, question.agent_id)
        except NotFound as error:
            self._close(question, "unusable", str(error))
            return None
        if item.state != "untrusted":
            self._settle(question, item)
        return (question, item) if question_id in self._open else None

    async def answer(self, question_id: str, digest: str | None, by: str) -> None:
        """Trusts that very version, None declines. The first answer counts.

        Raises: NotFound where it is over, StorageError; InvalidRequest where the skill is another one by now.
        """
        async with self._answering:
            found = await self.look(question_id)
            if found is None:
                raise NotFound("This question is no longer open.")
            question = found[0]
            if digest is None:
                self._close(question, "declined")
            else:
                self._settle(question, await self._library.trust(question.name, digest, by, question.agent_id))

    def leave(self, asker: str) -> None:
        """That connection has ended: nobody waits for its answers any more."""
        for question in [one for one in self._open.values() if one.asker == asker]:
            self._close(question, "gone")

    def _settle(self, question: SkillQuestion, item: Listed) -> None:
        if item.state == "ready":
            self._close(question, "trusted")
        else:
            self._close(question, "unusable", item.reason)

    def _close(self, question: SkillQuestion, outcome: SkillAnswer, reason: str | None = None) -> None:
        if self._open.pop(question.id, None) is not None:
            data: dict[str, object] = {"questionId": question.id, "outcome": outcome}
            self._broadcast(CLOSED, data | ({"reason": reason} if reason else {}))
