"""What a tool is: a name, a schema, a risk, a preview and a function."""

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
# Accepted by every provider.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


Repair = Callable[[ToolCall, ToolContext, bool], Awaitable[tuple[Mapping[str, Any], Sequence[str]]]]
"""Takes a valid call, and whether it only reads. Returns the intended arguments, and notes for the model."""


@dataclass(frozen=True, slots=True)
class ShortForm:
    """What a small model is shown of a tool: a shorter description, and only these of the optional arguments."""

    description: str
    optional: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PerCall(Generic[A]):
    """What a tool determines for each call; None falls back to the behaviour of the `Tool` method of that name."""

    repair: Repair | None = None
    preview: Callable[[A, ToolContext], Awaitable[ToolPreview]] | None = None
    risk_of: Callable[[A], Risk] | None = None
    risk_here: Callable[[A, ToolContext], Awaitable[Risk]] | None = None
    also: Callable[[A], Sequence[str]] | None = None
    is_untimed: Callable[[A], bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[A]):
    """One tool. One that changes something has a `preview` in `per_call`.

    `call` runs it: cancelling stops the work and everything it started, and failures are raised as ToolError, which the
    caller turns into a result for the model.

    `family` is the tool's group in `tools.allow` and `tools.deny` (`group:fs`). A `deferred` tool is rarely needed: a
    model sees only its family in one line and asks for it; there, `at_a_glance` says what it takes and returns, so that
    a model can call it at once, and a tool that is not `listed` there is named elsewhere in the prompt. For small
    models, all tools without a `short` form are deferred. An `untimed` tool waits for the user, or runs something that
    may take hours: its time does not count against the run's. `activity` is shown on screens as what it does.
    `make_definition` returns what a model is shown, if that changes while the tool stays.

    Raises: ValueError if a provider might refuse its name.
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
    make_definition: Callable[[], ToolDefinition] | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"A tool's name is up to 64 letters, digits, `_` and `-`, not {self.name!r}.")

    def check(self, given: Mapping[str, Any]) -> A:
        """The validated arguments of a call. Raises: InvalidArguments (names each invalid one and those available)."""
        try:
            return self.arguments.check(given)
        except InvalidArguments as error:
            known = ", ".join(self.definition().parameters.get("properties", {})) or "none"
            refusal = InvalidArguments(f"{error} {self.name} takes: {known}.", wrong=error.wrong)
            refusal.has_safe_message = error.has_safe_message
            raise refusal from error

    def risk_of(self, arguments: A) -> Risk:
        """The risk of this call, which may differ from the tool's.

        If it is greater, a reading tool asks, even in Ask mode.
        """
        return self.risk if self.per_call.risk_of is None else self.per_call.risk_of(arguments)

    async def repair(
        self, call: ToolCall, arguments: A, context: ToolContext
    ) -> tuple[Mapping[str, Any], Sequence[str]]:
        """The arguments that a valid call clearly means, and notes for the model about the difference.

        Raises: InvalidArguments if in doubt.
        """
        if self.per_call.repair is None:
            return call.arguments, ()
        return await self.per_call.repair(call, context, self.risk_of(arguments) == "read")

    async def risk_here(self, arguments: A, context: ToolContext) -> Risk:
        """Like `risk_of`, if the risk depends on what a path leads to. Raises: ToolError."""
        if self.per_call.risk_here is None:
            return self.risk_of(arguments)
        return await self.per_call.risk_here(arguments, context)

    def also(self, arguments: A) -> Sequence[str]:
        """Names of other tools whose work this call also does.

        If one of them is denied or missing, so is the call; Auto mode runs it without asking only if it names them all.
        """
        return () if self.per_call.also is None else self.per_call.also(arguments)

    def is_untimed(self, arguments: A) -> bool:
        """Like `untimed`, for this call."""
        return self.untimed if self.per_call.is_untimed is None else self.per_call.is_untimed(arguments)

    async def preview(self, arguments: A, context: ToolContext) -> ToolPreview:
        """What the user sees before it runs: exactly what would happen. Raises: ToolError if it cannot work."""
        if self.per_call.preview is None:
            return whole_call(self.name, arguments)
        return await self.per_call.preview(arguments, context)

    def definition(self) -> ToolDefinition:
        """The tool as shown to a model, without constraints that most calls meet anyway."""
        if self.make_definition is not None:
            return self.make_definition()
        return ToolDefinition(self.name, self.description, self.arguments.schema_for_model)

    def short_definition(self) -> ToolDefinition:
        """The definition in its `short` form, if it has one."""
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
        """The JSON schema that accepts exactly the valid arguments."""
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
    """Makes the decorated function a tool; see `Tool` and `PerCall` for the parameters."""
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
    """The preview of a call that has nothing else to show."""
    details = arguments.shown()
    exact = json.dumps(details, sort_keys=True, ensure_ascii=False)
    return ToolPreview(
        summary=name,
        details={"arguments": details} if CARD_FACTS & details.keys() else details,
        grant=f"{name} {exact}",
        grant_text="exactly this call",
    )
