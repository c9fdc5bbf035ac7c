"""Turns a skill's parameters into arguments that are checked like any tool's."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Mapping
from functools import reduce
from operator import or_
from typing import Any, Literal

from pydantic import ConfigDict, Field, create_model

from onyx_jupyter.errors import InvalidArguments
from onyx_jupyter.security.drive_folders import DRIVE_PREFIX
from onyx_jupyter.security.path_guard import WORKSPACE_PREFIX, PathGuard
from onyx_jupyter.skills.injection import with_paths
from onyx_jupyter.skills.parameter_types import ANY, ParameterType
from onyx_jupyter.skills.parameters import Parameter, Parameters
from onyx_jupyter.skills.skill import Skill
from onyx_jupyter.toolsets.arguments import Arguments, ByModel

# What may be left of `=` in the languages that papermill writes; anything else could be code.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,99}")

# Characters that papermill does not escape in a double-quoted string and that these languages interpolate.
_READ_AS_CODE = {"julia": "$", "powershell": "$`"}
# Choices that are plain identifiers, and how many of them may be shown.
_WORD = re.compile(r"[A-Za-z0-9_.-]{1,30}")
_MAX_WORDS = 20


class SkillArguments(Arguments):
    """Base of all skills' arguments: a parameter's own name is its alias, since fields may not be called anything."""

    model_config = ConfigDict(alias_generator=None, protected_namespaces=(), allow_inf_nan=False)

    def given(self) -> dict[str, Any]:
        """What was given, by parameter; what was left out is the notebook's own default."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class FreeArguments(SkillArguments):
    """For a notebook whose parameters cannot be looked up."""

    model_config = ConfigDict(extra="allow")


def arguments_of(skill: Skill) -> type[SkillArguments]:
    """The model that validates a skill's arguments."""
    parameters = skill.parameters or Parameters()
    if parameters.free_form is not None:
        return FreeArguments
    fields: dict[str, Any] = {f"p{index}": _field(item) for index, item in enumerate(parameters.items)}
    return create_model(f"{skill.name} arguments", __base__=SkillArguments, **fields)


def parameters_schema(skill: Skill) -> dict[str, Any]:
    """The JSON schema of a skill's arguments."""
    parameters = skill.parameters or Parameters()
    if parameters.free_form is not None:
        return {"type": "object", "properties": {}, "description": parameters.free_form}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {item.name: _property(item) for item in parameters.items},
        "additionalProperties": False,
    }
    required = [item.name for item in parameters.items if item.required]
    return {**schema, "required": required} if required else schema


def without_texts(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without the author's free text: only names, types and plain choices remain."""
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            made[key] = {name: without_texts(item) for name, item in value.items()}
        elif key == "enum":
            made |= {key: value} if len(value) <= _MAX_WORDS and all(map(_is_plain, value)) else {}
        elif key == "anyOf":
            made[key] = [without_texts(item) for item in value]
        elif isinstance(value, Mapping):
            made[key] = without_texts(value)
        elif key not in ("description", "default"):
            made[key] = value
    return made


def checked_parameters(skill: Skill, given: Mapping[str, Any]) -> SkillArguments:
    """The validated arguments. Raises: InvalidArguments that names each wrong parameter."""
    model = arguments_of(skill)
    try:
        checked = ByModel(model).check(given)
    except InvalidArguments as error:
        known = ", ".join(f"`{item.name}`" for item in (skill.parameters or Parameters()).items) or "none"
        refusal = InvalidArguments(f"{error} {skill.name} takes: {known}.")
        refusal.has_safe_message = False  # names and choices were written by the skill's author
        raise refusal from error
    _refuse_code(skill, checked.given())
    return with_plain_names(checked)


def real_paths(skill: Skill, given: Mapping[str, Any], paths: PathGuard) -> dict[str, Any]:
    """The values for a user's call, with Onyx's own paths (`onyx:`, `Onyx:`) resolved for the kernel.

    Raises: PathNotAllowed.
    """
    return _with_paths(skill, given, lambda path: str(paths.resolve(path)) if _is_ours(path) else path)


def allowed_paths(skill: Skill, given: Mapping[str, Any], paths: PathGuard) -> dict[str, Any]:
    """The values for an agent's call, each path inside its allowed folders. Raises: PathNotAllowed."""

    def allowed(path: str) -> str:
        real = str(paths.resolve(path))
        # Code in the kernel may expand `~` to a home folder, which is not the path that was checked.
        return real if _is_ours(path) or path.startswith("~") else path

    return _with_paths(skill, given, allowed)


def _with_paths(skill: Skill, given: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    kinds = {item.name: item.type for item in (skill.parameters or Parameters()).items}
    return {name: with_paths(kinds.get(name, ANY), value, change) for name, value in given.items()}


def _is_ours(path: str) -> bool:
    return path.startswith((WORKSPACE_PREFIX, DRIVE_PREFIX))


def with_plain_names(arguments: SkillArguments) -> SkillArguments:
    """The arguments unchanged. Raises: InvalidArguments if a free-form name is invalid: it would become code."""
    for name in arguments.model_extra or {}:
        if not _NAME.fullmatch(name) or keyword.iskeyword(name):
            raise InvalidArguments(f"`{name[:80]}` is not a valid parameter name.")
    return arguments


def _is_plain(value: object) -> bool:
    return not isinstance(value, str) or _WORD.fullmatch(value) is not None


def _refuse_code(skill: Skill, given: Mapping[str, Any]) -> None:
    """Raises: InvalidArguments if that language would run part of a value as papermill writes it."""
    kernel = f"{skill.language} {skill.kernel or ''}".lower()
    for language, marks in _READ_AS_CODE.items():
        found = [name for name, value in given.items() if language in kernel and _holds(value, marks)]
        if found:
            shown = " or ".join(marks)
            raise InvalidArguments(f"{language} would interpret {shown} in `{found[0]}` as code. Leave them out.")


def _holds(value: Any, marks: str) -> bool:
    match value:
        case str():
            return any(mark in value for mark in marks)
        case list():
            return any(_holds(item, marks) for item in value)
        case dict():
            return any(_holds(key, marks) or _holds(item, marks) for key, item in value.items())
    return False


def _field(parameter: Parameter) -> tuple[Any, Any]:
    facts: dict[str, Any] = {"alias": parameter.name}
    if parameter.required:
        return _python_type(parameter.type), Field(**facts)
    # If only running the cell yields the default, it is None here and never passed on.
    return _python_type(parameter.type), Field(default=parameter.default, **facts)


def _property(parameter: Parameter) -> dict[str, Any]:
    """Omits a default of None, which means the same as no default."""
    about = {"description": parameter.description} if parameter.description else {}
    if parameter.type.name == "path" and not about:
        about = {"description": "A path."}
    default = {"default": parameter.default} if parameter.default is not None else {}
    return {**_type_schema(parameter.type), **default, **about}


def _type_schema(kind: ParameterType) -> dict[str, Any]:
    match kind.name:
        case "any":
            return {}
        case "choice":
            return {"enum": [*kind.choices, *([None] if kind.nullable else [])]}
        case "union":
            options = [_type_schema(option) for option in kind.options]
            return {"anyOf": [*options, *([{"type": "null"}] if kind.nullable else [])]}
        case "array":
            made: dict[str, Any] = {"type": "array"} | ({"items": _type_schema(kind.item)} if kind.item else {})
        case "object":
            values = {"additionalProperties": _type_schema(kind.item)} if kind.item else {}
            made = {"type": "object", **values}
        case "path":
            made = {"type": "string"}
        case _:
            made = {"type": kind.name}
    return {"anyOf": [made, {"type": "null"}]} if kind.nullable else made


def _python_type(kind: ParameterType) -> Any:
    made = _bare_type(kind)
    return made | None if kind.nullable and kind.name != "any" else made


def _bare_type(kind: ParameterType) -> Any:
    match kind.name:
        case "integer":
            return int
        case "number":
            return float
        case "boolean":
            return bool
        case "string" | "path":
            return str
        case "array":
            return list[_python_type(kind.item or ANY)]  # type: ignore[misc]
        case "object":
            return dict[str, _python_type(kind.item or ANY)]  # type: ignore[misc]
        case "choice":
            return Literal[kind.choices]
        case "union":
            return reduce(or_, (_python_type(option) for option in kind.options))
        case "any":
            return Any
