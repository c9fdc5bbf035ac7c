"""A model in cell mode: it answers in words, or proposes one cell, which is run after a yes. It runs nothing itself."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Protocol

from onyx_jupyter.cell_mode.facts import NotebookFacts
from onyx_jupyter.cell_mode.prefill import known_beginnings
from onyx_jupyter.cell_mode.small_model import Inner
from onyx_jupyter.cell_mode.step import Step
from onyx_jupyter.cell_mode.turn import is_last_word, turn_of
from onyx_jupyter.messages import Message
from onyx_jupyter.protocols import Model, ModelEvent, ModelRequest
from onyx_jupyter.security.external_content import plainly

_WHOLE_CONVERSATION = 1_000_000


class Surroundings(Protocol):
    """What cell mode asks of the notebook in front."""

    async def facts(self, request: str, made: str | None) -> NotebookFacts:
        """As it is now; of the files, the table that the request names. What cannot be read is not there.

        `made` is the notebook that was created for the request, and stands in front since.
        """
        ...


class CellModel:
    """Each step of a turn is one short request to `inner`, made anew from what is known now.

    What is to be done comes out as calls of the ordinary tools, so that approvals, review, undo, the transcript and the
    limits are those of every run.
    """

    def __init__(self, inner: Model, surroundings: Surroundings, redact: Callable[[str], str]) -> None:
        """`redact` takes secrets out of what the notebook and its kernel hold."""
        self._inner = inner
        self._around = surroundings
        self._redact = redact

    @property
    def id(self) -> str:
        return self._inner.id

    @property
    def light(self) -> bool:
        return True

    @property
    def tiny(self) -> bool:
        return True

    @property
    def context_window(self) -> int:
        """Without bound: of a conversation only the newest exchanges are sent, in short."""
        return max(_WHOLE_CONVERSATION, self._inner.context_window)

    async def beginnings(self, request: ModelRequest) -> list[ModelRequest]:
        """What the model inside may be asked first, as far as it is known, in the order in which it is worth reading.

        The request ends with what the person has written so far, which may be nothing.
        """
        turn = turn_of(request.messages)
        known = known_beginnings(await self._around.facts(turn.request, turn.made), turn)
        return [ModelRequest(request.system, [Message("user", plainly(self._redact(text)))]) for text in known]

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The next step of the turn: words, or one call. Raises: ModelError."""
        if not request.tools and not is_last_word(request.messages):
            events = self._inner.stream(request)  # beside the conversation: a summary, a title
        else:
            turn = turn_of(request.messages)
            facts = await self._around.facts(turn.request, turn.made)
            offered = frozenset(tool.name for tool in request.tools)
            events = Step(turn, facts, Inner(self._inner, request.system, self._redact), offered).events()
        async with aclosing(events) as stream:  # type: ignore[type-var]
            async for event in stream:
                yield event
