"""A conversation as cell mode needs it: the request, what was tried for it, and what came before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from onyx_jupyter.cell_mode.answers.output_text import cell_id_of
from onyx_jupyter.messages import Message, ToolCall
from onyx_jupyter.security.external_content import unfenced

INSERT, EDIT, RUN_ALL, REMEMBER = "notebook_insert_cell", "notebook_edit_cell", "notebook_run_all", "memory_write"
CREATE = "notebook_create"
_CELLS = (INSERT, EDIT, CREATE)
_OURS = "[Onyx]"
# The wording of `sessions/attachments.py`.
_FRONT, _OPEN = "the notebook in front is ", "also open: "
_DENIED = re.compile(r"^Denied[.:]?\s*")
_PLAIN_NO = re.compile(r"The user said no\b[^.]*\.?")


@dataclass(frozen=True, slots=True)
class Step:
    """One call of this turn and how it ended: ok, failed, denied, aborted, skipped."""

    call: ToolCall
    result: str
    status: str

    @property
    def is_cell(self) -> bool:
        return self.call.name in _CELLS

    @property
    def source(self) -> str:
        cells = self.call.arguments.get("cells") or [self.call.arguments]
        return str(cells[0].get("source", ""))


@dataclass(frozen=True, slots=True)
class AnsweredRequest:
    """A request that was answered before: the cell that was run for it, if one was, and the answer."""

    request: str
    cell: str
    answer: str


@dataclass(frozen=True, slots=True)
class Turn:
    """`request` is what the user wants now, in their words; `context` what went along with it."""

    request: str
    context: str
    steps: tuple[Step, ...]
    earlier: tuple[AnsweredRequest, ...]

    @property
    def last(self) -> Step | None:
        return self.steps[-1] if self.steps else None

    @property
    def made(self) -> str | None:
        """The notebook that was created for it; a failed creation has no cell."""
        made = [step for step in self.steps if step.call.name == CREATE and cell_id_of(step.result)]
        return str(made[-1].call.arguments["path"]) if made else None

    @property
    def failures(self) -> tuple[Step, ...]:
        """The cells that were run and failed."""
        return tuple(step for step in self.steps if step.is_cell and step.status == "failed")


def is_final_answer_request(messages: Sequence[Message]) -> bool:
    """Whether Onyx itself asks for the last words, since all steps are used up."""
    return bool(messages) and messages[-1].role == "user" and messages[-1].content.startswith(_OURS)


def refusal_reason(result: str) -> str:
    """What the user said when they denied a call; empty if they gave no reason."""
    reason = _DENIED.sub("", result).strip()
    return "" if _PLAIN_NO.fullmatch(reason) else reason


def turn_of(messages: Sequence[Message]) -> Turn:
    """The newest turn. Onyx's own messages don't count as the user's."""
    asked = [at for at, one in enumerate(messages) if one.role == "user" and not one.content.startswith(_OURS)]
    if not asked:
        return Turn("", "", (), ())
    # Messages that joined while it was answered belong to the request.
    first = asked[-1]
    while first - 1 in asked:
        first -= 1
    request = "\n".join(messages[at].content for at in range(first, asked[-1] + 1))
    along = (_without_places(messages[at].context) for at in range(first, asked[-1] + 1))
    context = "\n\n".join(one for one in along if one)
    return Turn(request.strip(), context, _steps(messages[asked[-1] + 1 :]), _exchanges(messages[:first]))


def _without_places(context: str) -> str:
    """Without the notebook in front, which the facts already contain; it was copied into cells as a line."""
    first, end, texts = context.partition("\n\n")
    told = first.split("; ")
    front = next((one.removeprefix(_FRONT) for one in told if one.startswith(_FRONT)), None)
    if front is None:
        return context
    itself = re.compile(rf"notebook {re.escape(front)}(?: cell \S+)?")
    kept = [one for one in told if not one.startswith((_FRONT, _OPEN)) and not itself.fullmatch(one)]
    return f"{'; '.join(kept)}{end if kept else ''}{texts}"


def _steps(messages: Sequence[Message]) -> tuple[Step, ...]:
    calls = {call.id: call for message in messages for call in message.tool_calls}
    return tuple(
        Step(calls[one.tool_call_id], unfenced(one.content), one.status or "ok")
        for one in messages
        if one.role == "tool" and one.tool_call_id in calls
    )


def _exchanges(messages: Sequence[Message]) -> tuple[AnsweredRequest, ...]:
    parts: list[list[Message]] = []
    for message in messages:
        if message.role == "user":
            parts.append([])
        if parts:
            parts[-1].append(message)
    made = []
    for part in parts:
        cells = [step.source for step in _steps(part[1:]) if step.is_cell and step.status == "ok"]
        answers = [one.content for one in part if one.role == "assistant" and one.content]
        made.append(AnsweredRequest(part[0].content, cells[-1] if cells else "", answers[-1] if answers else ""))
    return tuple(made)
