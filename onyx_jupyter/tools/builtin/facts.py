"""The tools that keep single facts and give them up. They never end or forget what their person was not shown."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from onyx_jupyter.errors import ToolError
from onyx_jupyter.messages import Risk, ToolResult
from onyx_jupyter.protocols import Exactly, Facts, KnownFact, ToolPreview
from onyx_jupyter.tools.context import ToolContext
from onyx_jupyter.tools.spec import Arguments, Tool

_SHOWN = 100


class RememberArguments(Arguments):
    fact: str = Field(min_length=1, max_length=2_000, description="One sentence, at most 200 characters.")
    category: str | None = Field(default=None, max_length=100, description="preference, person, project, work …")
    replaces: str | None = Field(default=None, max_length=100, description="Id of the fact that is true no more.")


class ForgetArguments(Arguments):
    pattern: str = Field(min_length=1, max_length=500, description="Words of it, * for anything; or a fact's id.")


class RememberTool(Tool[RememberArguments]):
    """Keeps a fact, or strengthens it where it is known. Of others it ends the one that its preview has shown."""

    name = "remember"
    description = (
        "Keeps one fact about your person or their work that stays true for long: a preference, a name, a decision. "
        "Told again it grows surer; told otherwise the new one counts and the old one ends."
    )
    risk: ClassVar[Risk] = "write"
    family: ClassVar[str] = "memory"
    deferred: ClassVar[bool] = True
    arguments = RememberArguments

    def __init__(self) -> None:
        self._shown: dict[tuple[str, str], frozenset[str]] = {}

    async def preview(self, arguments: RememberArguments, context: ToolContext) -> ToolPreview:
        former = await _facts(context).ended_by(arguments.fact, replaces=arguments.replaces)
        self._shown.pop(_call(context), None)
        self._shown[_call(context)] = frozenset({former.id} if former else ())
        if len(self._shown) > _SHOWN:  # the oldest of those that were never run
            self._shown.pop(next(iter(self._shown)))
        details = arguments.model_dump(by_alias=True, exclude_none=True)
        return ToolPreview(
            summary=f"Replace the fact {former.id}" if former else "Remember a fact",
            details=details | ({"former": [_line(former)]} if former else {}),
            grant=self.name,
            grant_text="every fact that is remembered",
            must_ask="another fact ends with it" if former else "",
        )

    async def run(self, arguments: RememberArguments, context: ToolContext) -> ToolResult:
        kept = await _facts(context).remember(
            arguments.fact,
            arguments.category,
            replaces=arguments.replaces,
            may_end=self._shown.pop(_call(context), frozenset()),
            session_key=context.session_key,
            turn=context.run_id,
        )
        match kept.outcome:
            case "new":
                return ToolResult(f"Remembered as {kept.fact.id}.")
            case "reinforced":
                sure = f"Its confidence is {kept.fact.confidence:.2f}."
                return ToolResult(f"Known already, as {kept.fact.id}: “{kept.fact.text}”. {sure}")
        former = f"{kept.former.id} “{kept.former.text}”" if kept.former else "another one"
        return ToolResult(f"Remembered as {kept.fact.id}. It takes the place of {former}, which was true until now.")


class ForgetTool(Tool[ForgetArguments]):
    """Takes facts out of the memory; the file's versions bring them back."""

    name = "forget"
    description = (
        "Forgets the facts that hold these words. Your person is shown exactly which, and asked; memory/facts.jsonl "
        "keeps its versions, so it can be undone."
    )
    risk: ClassVar[Risk] = "write"
    family: ClassVar[str] = "memory"
    deferred: ClassVar[bool] = True
    arguments = ForgetArguments

    async def preview(self, arguments: ForgetArguments, context: ToolContext) -> ToolPreview:
        found = await _found(arguments, context)
        lines = [_line(fact) for fact in found]
        which = f"{len(found)} facts" if len(found) > 1 else f"the fact {found[0].id}"
        return ToolPreview(
            summary=f"Forget {which}",
            details={"pattern": arguments.pattern, "facts": lines},
            grant=f"{self.name} {' '.join(fact.id for fact in found)}",
            grant_text="exactly these facts",
            exactly=Exactly(facts={"facts": lines}),
            must_ask="it takes something out of the memory",
        )

    async def run(self, arguments: ForgetArguments, context: ToolContext) -> ToolResult:
        found = await _found(arguments, context)
        gone = await _facts(context).forget([fact.id for fact in found], session_key=context.session_key)
        lines = "\n".join(f"- {_line(fact)}" for fact in gone)
        return ToolResult(f"Forgotten:\n{lines}\nThe versions of memory/facts.jsonl bring them back.")


async def _found(arguments: ForgetArguments, context: ToolContext) -> list[KnownFact]:
    found = list(await _facts(context).matching(arguments.pattern))
    if not found:
        raise ToolError(f"There is no fact with {arguments.pattern!r}. Take fewer words, or a fact's id.")
    return found


def _call(context: ToolContext) -> tuple[str, str]:
    return context.run_id, context.call_id


def _facts(context: ToolContext) -> Facts:
    if context.facts is None:
        raise ToolError("Facts cannot be reached from here.")
    return context.facts


def _line(fact: KnownFact) -> str:
    return f"{fact.id} ({fact.since[:10]}): {fact.text}"
