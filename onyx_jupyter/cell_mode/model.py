"""A model in cell mode: it answers in words, or proposes one cell, which runs after approval."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Protocol

from onyx_jupyter.cell_mode import prompts
from onyx_jupyter.cell_mode.kind_of_request import kind_of
from onyx_jupyter.cell_mode.notebook_facts import NotebookFacts
from onyx_jupyter.cell_mode.small_model import Inner
from onyx_jupyter.cell_mode.step_choice import Step
from onyx_jupyter.cell_mode.turn import Turn, is_final_answer_request, turn_of
from onyx_jupyter.messages import Message
from onyx_jupyter.protocols import Model, ModelEvent, ModelRequest
from onyx_jupyter.security.external_content import escape_marks

_WHOLE_CONVERSATION = 1_000_000
# Fewer words don't tell whether it needs a cell or words.
_MIN_WORDS = 3


class NotebookContext(Protocol):
    """What cell mode needs from the notebook in front."""

    async def facts(self, request: str, made: str | None) -> NotebookFacts:
        """The current facts; of the files, only the table that the request names. Unreadable parts are left out.

        `made` is the notebook that was created for the request and has been in front since.
        """
        ...


class CellModel:
    """Each step of a turn is one short request to `inner`, built anew from current facts.

    Actions become calls of the ordinary tools, so that approvals, review, undo, the transcript and the limits are the
    same as for any run.
    """

    def __init__(self, inner: Model, surroundings: NotebookContext, redact: Callable[[str], str]) -> None:
        """`redact` removes secrets from the contents of the notebook and its kernel."""
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
        """Practically unlimited: only the newest exchanges of a conversation are sent, shortened."""
        return max(_WHOLE_CONVERSATION, self._inner.context_window)

    async def beginnings(self, request: ModelRequest) -> list[ModelRequest]:
        """The likely beginnings of the next requests to `inner`, those most worth preloading first.

        The request ends with what the user has typed so far, which may be empty.
        """
        turn = turn_of(request.messages)
        known = known_prefixes(await self._around.facts(turn.request, turn.made), turn)
        return [ModelRequest(request.system, [Message("user", escape_marks(self._redact(text)))]) for text in known]

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The next step of the turn: words, or one call. Raises: ModelError."""
        if not request.tools and not is_final_answer_request(request.messages):
            events = self._inner.stream(request)  # outside the conversation: a summary, a title
        else:
            turn = turn_of(request.messages)
            facts = await self._around.facts(turn.request, turn.made)
            offered = frozenset(tool.name for tool in request.tools)
            events = Step(turn, facts, Inner(self._inner, request.system, self._redact), offered).events()
        async with aclosing(events) as stream:  # type: ignore[type-var]
            async for event in stream:
                yield event


def known_prefixes(facts: NotebookFacts, turn: Turn) -> list[str]:
    """The likely beginnings of the prompt, as far as known; empty texts if only the instructions are.

    `turn.request` is the draft. If it doesn't tell enough, the likelier one comes first: a conversation begins with a
    question about the notebook, and continues with cells. Empty if no model will be asked.
    """
    if not _is_long_enough(turn):
        words = prompts.text_prompt_prefix(facts, turn)
        if facts.unrun:  # it is run first, which changes it
            return [words]
        cell = prompts.before_cell(facts, turn)
        return [cell, words] if turn.earlier else [words, cell]
    match kind_of(turn.request, facts, follows=bool(turn.earlier)):
        case "words":
            return [prompts.text_prompt_prefix(facts, turn)]
        case "cell":
            return ["" if facts.unrun else prompts.before_cell(facts, turn)]
        case "remember" | "action":  # done without the model
            return []


def _is_long_enough(turn: Turn) -> bool:
    return len(turn.request.split()) >= _MIN_WORDS
