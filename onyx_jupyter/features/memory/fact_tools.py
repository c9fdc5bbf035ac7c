"""The tools that remember and forget single facts. They never end or forget a fact that the user was not shown."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import ToolError
from onyx_jupyter.memory.targets import FACTS_FILE
from onyx_jupyter.messages import Label, Link, ToolResult
from onyx_jupyter.protocols import ExactScope, FactOutcome, Facts, KnownFact, ToolPreview
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import Tool, tool

_SHOWN = 100


class RememberArguments(Arguments):
    fact: str = Field(min_length=1, max_length=2_000, description="One sentence, at most 200 characters.")
    category: str | None = Field(default=None, max_length=100, description="preference, person, project, work …")
    replaces: str | None = Field(default=None, max_length=100, description="Id of the fact that is no longer true.")
    beside: list[str] = Field(
        default_factory=list, max_length=10, description="Ids of similar facts that also stay true."
    )


class ForgetArguments(Arguments):
    pattern: str = Field(min_length=1, max_length=500, description="Words from it, * for anything; or a fact's id.")


def make_remember_tool() -> Tool[RememberArguments]:
    """Creates the tool, which records for each previewed call the fact that it would end."""
    shown: dict[tuple[str, str], frozenset[str]] = {}

    async def preview(arguments: RememberArguments, context: ToolContext) -> ToolPreview:
        foreseen = await _facts(context).preview_remember(
            arguments.fact, replaces=arguments.replaces, beside=arguments.beside
        )
        former = foreseen.other if foreseen.outcome == "changed" else None
        same = foreseen.other if foreseen.outcome == "reinforced" else None
        shown.pop(_call(context), None)
        shown[_call(context)] = frozenset({former.id} if former else ())
        if len(shown) > _SHOWN:  # drop the oldest call that was never run
            shown.pop(next(iter(shown)))
        details = arguments.model_dump(by_alias=True, exclude_defaults=True)
        details |= {"former": [_line(former)]} if former else {}
        details |= {"known": [_line(same)]} if same else {}
        remember = f"Remember a fact that is known as {same.id}" if same else "Remember a fact"
        return ToolPreview(
            summary=f"Replace the fact {former.id}" if former else remember,
            details=details,
            grant="remember",
            grant_text="every fact that is remembered",
            must_ask="another fact ends with it" if former else "",
        )

    @tool(
        name="remember",
        activity=Activity("remember", "fact"),
        arguments=RememberArguments,
        description=(
            "Keeps one lasting fact about the person or their work: a preference, a name, a decision. Repeating it "
            "raises its confidence; a fact that contradicts it replaces it."
        ),
        risk="write",
        family="memory",
        deferred=True,
        preview=preview,
    )
    async def remember_tool(arguments: RememberArguments, context: ToolContext) -> ToolResult:
        """Keeps a fact, or reinforces a known one. It ends no other fact than the one its preview showed."""
        kept = await _facts(context).remember(
            arguments.fact,
            arguments.category,
            replaces=arguments.replaces,
            beside=arguments.beside,
            may_end=shown.pop(_call(context), frozenset()),
            session_key=context.session_key,
            turn=context.run_id,
        )
        return _with_label(kept, arguments.fact)

    return remember_tool


async def _forget_preview(arguments: ForgetArguments, context: ToolContext) -> ToolPreview:
    found = await _found(arguments, context)
    lines = [_line(fact) for fact in found]
    which = f"{len(found)} facts" if len(found) > 1 else f"the fact {found[0].id}"
    return ToolPreview(
        summary=f"Forget {which}",
        details={"pattern": arguments.pattern, "facts": lines},
        grant=f"forget {' '.join(fact.id for fact in found)}",
        grant_text="exactly these facts",
        exactly=ExactScope(facts={"facts": lines}),
        must_ask="it takes something out of the memory",
    )


@tool(
    name="forget",
    activity=Activity("forget", "pattern"),
    arguments=ForgetArguments,
    description=(
        "Forgets the facts that contain these words. The person is shown exactly which, and asked; memory/facts.jsonl "
        "keeps versions, so it can be undone."
    ),
    risk="write",
    family="memory",
    deferred=True,
    preview=_forget_preview,
)
async def forget_tool(arguments: ForgetArguments, context: ToolContext) -> ToolResult:
    """Removes facts from the memory; the file's versions can restore them."""
    found = await _found(arguments, context)
    gone = await _facts(context).forget([fact.id for fact in found], session_key=context.session_key)
    lines = "\n".join(f"- {_line(fact)}" for fact in gone)
    return _noted("Forgotten:\n", lines, "\nThe versions of memory/facts.jsonl can restore them.")


async def _found(arguments: ForgetArguments, context: ToolContext) -> list[KnownFact]:
    found = list(await _facts(context).matching(arguments.pattern))
    if not found:
        raise ToolError(f"No fact matches {arguments.pattern!r}. Use fewer words, or a fact's id.").mark_message_safe()
    return found


def _noted(head: str, text: str, tail: str = "") -> ToolResult:
    source = "known facts"
    return ToolResult(head + text + tail, origin="memory", external=source, own_head=head, own_tail=tail)


def _with_label(kept: FactOutcome, fact: str) -> ToolResult:
    """What happened to the fact, with a link to it."""
    label = Label("remember", fact, links=(Link("memory", FACTS_FILE, fact=kept.fact.id),))
    return replace(_format_outcome(kept), label=label)


def _format_outcome(kept: FactOutcome) -> ToolResult:
    """What happened to the fact, for the model, and what it may have to do about similar facts."""
    now, former = kept.fact, kept.former
    if kept.outcome == "changed":
        before = f"{former.id} “{former.text}”" if former else "another one"
        return _noted(f"Remembered as {now.id}. ", f"It replaces {before}, which was true until now.")
    if kept.outcome == "reinforced":
        reworded = f" It was “{former.text}” until now." if former else ""
        tail = f" Its confidence is {now.confidence:.2f}."
        return _noted(f"Known already, as {now.id}: ", f"“{now.text}”.{reworded}", tail)
    if not kept.near:
        return ToolResult(f"Remembered as {now.id}.", origin="own")
    near = "\n".join(f"{fact.id} says “{fact.text}”." for fact in kept.near)
    again = "\nIs one of them no longer true? Call remember again with the same fact, and that one's id as replaces."
    return _noted(f"Remembered as {now.id}.\n", near, again)


def _call(context: ToolContext) -> tuple[str, str]:
    return context.run_id, context.call_id


def _facts(context: ToolContext) -> Facts:
    if context.facts is None:
        raise ToolError("Facts cannot be reached from here.")
    return context.facts


def _line(fact: KnownFact) -> str:
    return f"{fact.id} ({fact.since[:10]}): {fact.text}"
