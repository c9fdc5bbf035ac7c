"""What a tool is: a name, a schema, a risk, a preview and a function. It never decides whether it may run."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import InvalidArguments
from onyx_jupyter.messages import Risk, ToolCall, ToolDefinition, ToolResult
from onyx_jupyter.protocols import CARD_FACTS, ToolPreview
from onyx_jupyter.toolsets.arguments import Arguments, ArgumentsCheck, ByModel, Checked
from onyx_jupyter.toolsets.context import ToolContext

A = TypeVar("A", bound=Checked)
M = TypeVar("M", bound=Arguments)
# What every provider takes.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


Repair = Callable[[ToolCall, ToolContext, bool], Awaitable[tuple[Mapping[str, Any], Sequence[str]]]]
"""Takes a valid call, and whether it only reads. Gives the arguments that it means, and what the model is told."""


@dataclass(frozen=True, slots=True)
class ShortForm:
    """What a small model is told of a tool: fewer words, and of the arguments that may be left out these alone."""

    description: str
    optional: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PerCall(Generic[A]):
    """What a tool says of one very call; None is what `Tool` has for the method of that name."""

    repair: Repair | None = None
    preview: Callable[[A, ToolContext], Awaitable[ToolPreview]] | None = None
    risk_of: Callable[[A], Risk] | None = None
    risk_here: Callable[[A, ToolContext], Awaitable[Risk]] | None = None
    also: Callable[[A], Sequence[str]] | None = None
    is_untimed: Callable[[A], bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[A]):
    """One tool. One that changes something has a `preview` among `per_call`.

    `call` does it: cancelling stops the work and everything it started, and failures are raised as ToolError, which the
    caller turns into a result for the model.

    `family` is the tool's group in `tools.allow` and `tools.deny` (`group:fs`). A `deferred` one is seldom needed: a
    model is told of its family in one line and asks for it; `at_a_glance` says there what it takes and gives, so that a
    model can call it at once, and one that is not `listed` there is named elsewhere in the prompt. For small models all
    are deferred that have no `short` form. An `untimed` one waits for a person, or runs what may rightly take hours:
    its time is not counted against the run's. `activity` is what the screens say it does. `told` gives what a model is
    told, where that changes while the tool stays.

    Raises: ValueError where no provider would take its name.
    """

    name: str
    description: str
    risk: Risk
    arguments: ArgumentsCheck[A]
    call: Callable[[A, ToolContext], Awaitable[ToolResult]]
    family: str = ""
    deferred: bool = False
    listed: bool = True
    at_a_glance: str = ""
    short: ShortForm | None = None
    untimed: bool = False
    activity: Activity | None = None
    per_call: PerCall[A] = field(default_factory=PerCall)
    told: Callable[[], ToolDefinition] | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"A tool's name is up to 64 letters, digits, `_` and `-`, not {self.name!r}.")

    def check(self, given: Mapping[str, Any]) -> A:
        """The arguments of a call. Raises: InvalidArguments (each that is wrong is named, and what there are)."""
        try:
            return self.arguments.check(given)
        except InvalidArguments as error:
            known = ", ".join(self.definition().parameters.get("properties", {})) or "none"
            told = InvalidArguments(f"{error} {self.name} takes: {known}.", wrong=error.wrong)
            told.own_words = error.own_words
            raise told from error

    def risk_of(self, arguments: A) -> Risk:
        """The risk of this very call, where not every call has that of the tool.

        A greater one than the tool's makes a reading tool ask, also in Ask mode.
        """
        return self.risk if self.per_call.risk_of is None else self.per_call.risk_of(arguments)

    async def repair(self, call: ToolCall, context: ToolContext) -> tuple[Mapping[str, Any], Sequence[str]]:
        """The arguments that a valid call plainly means, and what the model is told of the difference.

        Raises: InvalidArguments where it is in doubt.
        """
        if self.per_call.repair is None:
            return call.arguments, ()
        return await self.per_call.repair(call, context, self.risk_of(self.check(call.arguments)) == "read")

    async def risk_here(self, arguments: A, context: ToolContext) -> Risk:
        """The same, where it takes a look to tell: at what a path leads to. Raises: ToolError."""
        if self.per_call.risk_here is None:
            return self.risk_of(arguments)
        return await self.per_call.risk_here(arguments, context)

    def also(self, arguments: A) -> Sequence[str]:
        """Names of other tools whose work this very call does, too.

        Where one of them is denied or not there, so is the call; Auto mode runs it unasked only where it names all.
        """
        return () if self.per_call.also is None else self.per_call.also(arguments)

    def is_untimed(self, arguments: A) -> bool:
        """The same as `untimed`, of this very call."""
        return self.untimed if self.per_call.is_untimed is None else self.per_call.is_untimed(arguments)

    async def preview(self, arguments: A, context: ToolContext) -> ToolPreview:
        """What a person sees before it runs: exactly what would happen. Raises: ToolError where it cannot work."""
        if self.per_call.preview is None:
            return whole_call(self.name, arguments)
        return await self.per_call.preview(arguments, context)

    def definition(self) -> ToolDefinition:
        """The tool as a model is told of it: what most calls keep to anyway is told to those that do not."""
        if self.told is not None:
            return self.told()
        return ToolDefinition(self.name, self.description, self.arguments.told)

    def short_definition(self) -> ToolDefinition:
        """The same in its `short` form, where it has one."""
        whole, short = self.definition(), self.short
        if short is None:
            return whole
        kept = {*whole.parameters.get("required", ()), *short.optional}
        properties = {
            name: {key: value for key, value in said.items() if key != "description"}
            for name, said in whole.parameters["properties"].items()
            if name in kept
        }
        return ToolDefinition(self.name, short.description, {**whole.parameters, "properties": properties})

    def schema(self) -> dict[str, Any]:
        """The arguments as a JSON schema that takes exactly what a call may have."""
        return self.arguments.schema


def tool(
    *,
    name: str,
    arguments: type[M],
    description: str,
    risk: Risk,
    family: str = "",
    deferred: bool = False,
    listed: bool = True,
    at_a_glance: str = "",
    short: ShortForm | None = None,
    untimed: bool = False,
    activity: Activity | None = None,
    repair: Repair | None = None,
    preview: Callable[[M, ToolContext], Awaitable[ToolPreview]] | None = None,
    risk_of: Callable[[M], Risk] | None = None,
    risk_here: Callable[[M, ToolContext], Awaitable[Risk]] | None = None,
    also: Callable[[M], Sequence[str]] | None = None,
    is_untimed: Callable[[M], bool] | None = None,
) -> Callable[[Callable[[M, ToolContext], Awaitable[ToolResult]]], Tool[M]]:
    """Makes the function below it a tool; what each word means stands at `Tool` and `PerCall`."""
    per_call = PerCall(
        repair=repair, preview=preview, risk_of=risk_of, risk_here=risk_here, also=also, is_untimed=is_untimed
    )

    def made(call: Callable[[M, ToolContext], Awaitable[ToolResult]]) -> Tool[M]:
        return Tool(
            name=name,
            description=description,
            risk=risk,
            arguments=ByModel(arguments),
            call=call,
            family=family,
            deferred=deferred,
            listed=listed,
            at_a_glance=at_a_glance,
            short=short,
            untimed=untimed,
            activity=activity,
            per_call=per_call,
        )

    return made


def whole_call(name: str, arguments: Checked) -> ToolPreview:
    """The preview of a call that has nothing to show but itself."""
    details = arguments.shown()
    exact = json.dumps(details, sort_keys=True, ensure_ascii=False)
    return ToolPreview(
        summary=name,
        details={"arguments": details} if CARD_FACTS & details.keys() else details,
        grant=f"{name} {exact}",
        grant_text="exactly this call",
    )
