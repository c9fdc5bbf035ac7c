"""Validates a call's arguments, by a pydantic model (built-in tools) or a plain JSON schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from onyx_jupyter.errors import InvalidArguments
from onyx_jupyter.events import to_camel
from onyx_jupyter.toolsets.json_schema import compact_schema, schema_of

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError as SchemaViolation

_ELSEWHERE = frozenset({"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas"})
_OPEN = _ELSEWHERE | {"additionalProperties", "patternProperties", "unevaluatedProperties"}


class Checked(Protocol):
    """A call's validated arguments."""

    def canonical(self) -> dict[str, Any]:
        """Equal for equivalent arguments: values that equal their default are omitted."""
        ...

    def shown(self) -> dict[str, Any]:
        """All arguments given, under the names that a model uses, as shown to the user."""
        ...


A_co = TypeVar("A_co", bound=Checked, covariant=True)


class ArgumentsCheck(Protocol[A_co]):
    """The arguments that a tool accepts."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema that accepts exactly the valid arguments; must not be modified."""
        ...

    @property
    def schema_for_model(self) -> dict[str, Any]:
        """The schema as shown to a model; it has `properties`."""
        ...

    def check(self, given: Mapping[str, Any]) -> A_co:
        """Raises: InvalidArguments with a sentence for each invalid argument."""
        ...


class Arguments(BaseModel):
    """Base of all built-in tools' arguments: camelCase for the model, nothing unknown accepted, nothing converted.

    Strict, so that what the schema refuses is refused: a command `5` never becomes the text "5".
    """

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True, frozen=True)

    def canonical(self) -> dict[str, Any]:
        """The same for every way of saying the same: what equals its default is left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)

    def shown(self) -> dict[str, Any]:
        """All that is given, by the names that a model knows."""
        return self.model_dump(by_alias=True, exclude_none=True)


M = TypeVar("M", bound=Arguments)


@dataclass(frozen=True, slots=True)
class ByModel(Generic[M]):
    """Arguments validated by a pydantic model; `described` replaces the schema derived from the model."""

    model: type[M]
    described: dict[str, Any] | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """The model's schema, without noise."""
        return schema_of(self.model) if self.described is None else self.described

    @property
    def schema_for_model(self) -> dict[str, Any]:
        """Omits constraints that most calls meet anyway; a call that violates one gets an error."""
        schema_for_model: dict[str, Any] = compact_schema(self.schema)
        return schema_for_model

    def check(self, given: Mapping[str, Any]) -> M:
        """Raises: InvalidArguments."""
        try:
            return self.model.model_validate(dict(given))
        except ValidationError as error:
            raise invalid(error) from error


class PlainArguments(dict[str, Any]):
    """A call's arguments as given, valid under their tool's JSON schema."""

    def __init__(self, given: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
        super().__init__(given)
        self._properties: Mapping[str, Any] = schema.get("properties", {})

    def canonical(self) -> dict[str, Any]:
        """Omits values that equal their default."""
        return {name: value for name, value in self.items() if not self._is_default(name, value)}

    def shown(self) -> dict[str, Any]:
        """All of them."""
        return dict(self)

    def _is_default(self, name: str, value: Any) -> bool:
        known = self._properties.get(name)
        return isinstance(known, Mapping) and "default" in known and _is_same(known["default"], value)


@dataclass(frozen=True)
class ByJsonSchema:
    """Arguments validated by a plain JSON schema (draft 2020-12, `type: object`), for tools from elsewhere.

    An argument that the schema does not name is refused, unless the schema itself covers it. A `$ref` to an address is
    not fetched; then every call is invalid.
    Raises: ValueError if it is no such schema.
    """

    schema: dict[str, Any]

    def __post_init__(self) -> None:
        from jsonschema.exceptions import SchemaError

        if self.schema.get("type") != "object":
            raise ValueError("The JSON schema of a tool's arguments has the type object.")
        try:
            self._validator.check_schema(self.schema)
        except SchemaError as error:
            raise ValueError(f"The JSON schema of a tool's arguments is none: {error.message}") from error

    @property
    def schema_for_model(self) -> dict[str, Any]:
        """The schema unchanged."""
        return {"properties": {}, **self.schema}

    def check(self, given: Mapping[str, Any]) -> PlainArguments:
        """Raises: InvalidArguments, which quotes the schema and thus text by the tool's author."""
        from referencing.exceptions import Unresolvable

        try:
            found = sorted(self._validator.iter_errors(dict(given)), key=lambda one: [str(part) for part in one.path])
        except Unresolvable as error:
            raise _unfit([f"Its schema points at {error.ref!r}, which is not in it."], ()) from error
        unknown = [] if _OPEN & self.schema.keys() else [name for name in given if name not in self._properties]
        if found or unknown:
            words = [*(sentence for one in found for sentence in _sentences(one)), *map(_not_known, unknown)]
            wrong = [*unknown, *(str(one.path[0]) for one in found if one.path)]
            raise _unfit(words, wrong)
        return PlainArguments(given, self.schema)

    @cached_property
    def _validator(self) -> Draft202012Validator:
        # Imported with the first such tool: most servers have none.
        from jsonschema import Draft202012Validator
        from referencing import Registry

        return Draft202012Validator(self.schema, registry=Registry())

    @property
    def _properties(self) -> Mapping[str, Any]:
        properties: Mapping[str, Any] = self.schema.get("properties", {})
        return properties


def invalid(error: ValidationError) -> InvalidArguments:
    """A sentence for each invalid argument, with its name."""
    problems = []
    for problem in error.errors(include_url=False, include_context=False):
        field = ".".join(str(part) for part in problem["loc"]) or "arguments"
        match problem["type"]:
            case "missing":
                problems.append(f"`{field}` is missing.")
            case "extra_forbidden":
                problems.append(_not_known(field))
            case _:
                problems.append(f"`{field}`: {problem['msg']}, not {_short(problem['input'])}.")
    wrong = {str(problem["loc"][0]) for problem in error.errors() if problem["loc"]}
    return InvalidArguments(" ".join(problems), wrong=wrong)


def _unfit(sentences: Sequence[str], wrong: Sequence[str]) -> InvalidArguments:
    error = InvalidArguments(" ".join(sentences), wrong=wrong)
    error.has_safe_message = False
    return error


def _sentences(error: SchemaViolation) -> list[str]:
    field = ".".join(str(part) for part in error.absolute_path)
    if error.validator == "required":
        inside = f"{field}." if field else ""
        return [f"`{inside}{name}` is missing." for name in error.validator_value if name not in error.instance]
    return [f"`{field or 'arguments'}`: {_cut(error.message)}."]


def _not_known(field: str) -> str:
    return f"`{field}` is not known."


def _is_same(default: Any, value: Any) -> bool:
    """Compares as in JSON: true is not 1."""
    return type(default) is type(value) and bool(default == value)


def _short(value: Any) -> str:
    return _cut(repr(value), 80)


def _cut(text: str, most: int = 300) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}…"
