"""What a tool is: a name, a schema, a risk, a preview and a function. It never decides whether it may run."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict

from onyx_jupyter.events import to_camel
from onyx_jupyter.messages import Risk, ToolDefinition, ToolResult
from onyx_jupyter.protocols import CARD_FACTS, ToolPreview
from onyx_jupyter.tools.context import ToolContext


class Arguments(BaseModel):
    """Base of all tools' arguments: camelCase for the model, nothing unknown accepted, nothing converted.

    Strict, so that what the schema refuses is refused: a command `5` never becomes the text "5".
    """

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True, frozen=True)

    def canonical(self) -> dict[str, Any]:
        """The same for every way of saying the same: what equals its default is left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class ShortForm:
    """What a small model is told of a tool: fewer words, and of the arguments that may be left out these alone."""

    description: str
    optional: tuple[str, ...] = ()


class Tool(ABC, Generic[A]):
    """One tool. Subclasses set the class attributes and write `run`; those that change something also `preview`.

    `family` is the tool's group in `tools.allow` and `tools.deny` (`group:fs`). A `deferred` one is seldom needed: a
    model is told of its family in one line and asks for it; `at_a_glance` says there what it takes and gives, so that a
    model can call it at once, and one that is not `listed` there is named elsewhere in the prompt. For small models all
    are deferred that have no `short` form. An `untimed` one waits for a person, or runs what may rightly take hours:
    its time is not counted against the run's. Failures are raised as ToolError: the caller turns them into a result for
    the model.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    risk: ClassVar[Risk]
    family: ClassVar[str] = ""
    deferred: ClassVar[bool] = False
    listed: ClassVar[bool] = True
    at_a_glance: ClassVar[str] = ""
    short: ClassVar[ShortForm | None] = None
    untimed: ClassVar[bool] = False
    arguments: type[A]

    @abstractmethod
    async def run(self, arguments: A, context: ToolContext) -> ToolResult:
        """Does it. Cancelling stops the work and everything it started. Raises: ToolError."""

    def risk_of(self, arguments: A) -> Risk:
        """The risk of this very call, where not every call has that of the tool.

        A greater one than the tool's makes a reading tool ask, also in Ask mode.
        """
        return self.risk

    async def risk_here(self, arguments: A, context: ToolContext) -> Risk:
        """The same, where it takes a look to tell: at what a path leads to. Raises: ToolError."""
        return self.risk_of(arguments)

    def also(self, arguments: A) -> Sequence[str]:
        """Names of other tools whose work this very call does, too.

        Where one of them is denied or not there, so is the call; Auto mode runs it unasked only where it names all.
        """
        return ()

    def is_untimed(self, arguments: A) -> bool:
        """The same as `untimed`, of this very call."""
        return self.untimed

    async def preview(self, arguments: A, context: ToolContext) -> ToolPreview:
        """What a person sees before it runs: exactly what would happen. Raises: ToolError where it cannot work."""
        details = arguments.model_dump(by_alias=True, exclude_none=True)
        exact = json.dumps(details, sort_keys=True, ensure_ascii=False)
        return ToolPreview(
            summary=self.name,
            details={"arguments": details} if CARD_FACTS & details.keys() else details,
            grant=f"{self.name} {exact}",
            grant_text="exactly this call",
        )

    def definition(self) -> ToolDefinition:
        """The tool as a model is told of it: what most calls keep to anyway is told to those that do not."""
        return ToolDefinition(self.name, self.description, _in_short(self.schema()))

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
        return schema_of(self.arguments)


_LENGTHS = frozenset({"minLength", "maxLength", "minItems", "maxItems"})
_OFTEN_FALSE = frozenset({"additionalProperties", "default"})


# Every request to a model carries those of all tools. The classes of skills' arguments come and go.
_SCHEMAS: WeakKeyDictionary[type[Arguments], dict[str, Any]] = WeakKeyDictionary()


def schema_of(arguments: type[Arguments]) -> dict[str, Any]:
    """The JSON schema in one piece, without titles and defaults of None: shorter, and it says the same.

    The same object each time, which is not to be changed.
    """
    if (known := _SCHEMAS.get(arguments)) is not None:
        return known
    schema: dict[str, Any] = arguments.model_json_schema(by_alias=True)
    definitions = schema.pop("$defs", {})
    schema = _without_noise(_in_place(schema, definitions))
    schema.pop("description", None)  # the class's docstring, written for whoever reads the code
    _SCHEMAS[arguments] = schema
    return schema


def _in_place(node: Any, definitions: Mapping[str, Any]) -> Any:
    """What a schema points at, put where it is pointed at; the docstrings of those classes are left out."""
    if isinstance(node, list):
        return [_in_place(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].removeprefix("#/$defs/")]
        without_text = {key: value for key, value in target.items() if key != "description"}
        node = {**without_text, **{key: value for key, value in node.items() if key != "$ref"}}
    return {key: _in_place(value, definitions) for key, value in node.items()}


def _in_short(node: Any) -> Any:
    """The schema without lengths, defaults of false and the word that nothing else is taken.

    A property may be called like a keyword.
    """
    if isinstance(node, list):
        return [_in_short(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: _in_short(item) for name, item in value.items()} if key == "properties" else _in_short(value)
        for key, value in node.items()
        if key not in _LENGTHS and not (key in _OFTEN_FALSE and value is False)
    }


def _without_noise(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_noise(item) for item in node]
    if not isinstance(node, dict):
        return node
    if {"type": "null"} in node.get("anyOf", []):
        (rest, *others) = [option for option in node["anyOf"] if option != {"type": "null"}]
        if not others:
            node = {**rest, **{key: value for key, value in node.items() if key != "anyOf"}}
    noise = ("title", "default") if node.get("default", 0) is None else ("title",)
    return {
        key: {name: _without_noise(value) for name, value in item.items()}
        if key == "properties"
        else _without_noise(item)
        for key, item in node.items()
        if key not in noise
    }
