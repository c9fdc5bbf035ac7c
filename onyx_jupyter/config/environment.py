"""Values of the environment: `ONYX_` variables, and `${NAME}` in the file's texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_origin

import json5
from pydantic import BaseModel, SecretStr

from onyx_jupyter.config.json5_lines import Path
from onyx_jupyter.config.problems import Problem, dotted
from onyx_jupyter.config.schema import Config
from onyx_jupyter.config.schema.section import field_named, is_section, value_type

PREFIX = "ONYX_"
SEPARATOR = "__"
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class MissingVariable:
    """A text of the file that refers to a variable which is not set."""

    path: Path
    name: str


def expand(value: Any, environment: Mapping[str, str], path: Path = ()) -> tuple[Any, list[MissingVariable]]:
    """The value with every `${NAME}` replaced, as a copy; a text that refers to a missing variable stays as it is."""
    missing: list[MissingVariable] = []

    def expanded(part: Any, place: Path) -> Any:
        if isinstance(part, dict):
            return {key: expanded(inner, (*place, key)) for key, inner in part.items()}
        if isinstance(part, list):
            return [expanded(inner, (*place, position)) for position, inner in enumerate(part)]
        if not isinstance(part, str):
            return part
        unset = [name for name in _REFERENCE.findall(part) if name not in environment]
        missing.extend(MissingVariable(place, name) for name in unset[:1])
        return part if unset else _REFERENCE.sub(lambda match: environment[match.group(1)], part)

    return expanded(value, path), missing


def apply_variables(
    raw: dict[str, Any], environment: Mapping[str, str], schema: type[Config]
) -> tuple[dict[Path, str], list[Problem]]:
    """Sets the values of `ONYX_` variables in `raw`. Returns which variable set each key, and those that lead nowhere.

    A variable for a key that does not exist sets it all the same: it is reported as any unknown key is.
    """
    variables: dict[Path, str] = {}
    problems = []
    for name in _names(environment):
        try:
            path, kind = _path_of(name, raw, schema)
            if _set(raw, path, _value(environment[name], kind)):
                variables[path] = name
        except LookupError as error:
            problems.append(Problem("error", f"{name}: {error.args[0]}", variable=name))
    return variables, problems


def locked(
    environment: Mapping[str, str], raw: Mapping[str, Any] | None = None, schema: type[Config] = Config
) -> dict[Path, str]:
    """Key path → the variable that sets it. `raw` is the file's content: names of providers are spelt as there."""
    found = {}
    for name in _names(environment):
        try:
            found[_path_of(name, raw or {}, schema)[0]] = name
        except LookupError:
            continue
    return found


def _names(environment: Mapping[str, str]) -> Iterator[str]:
    return (name for name in sorted(environment) if name.startswith(PREFIX) and SEPARATOR in name)


def _path_of(variable: str, raw: Mapping[str, Any], schema: type[Config]) -> tuple[Path, Any]:
    """The configuration's own spelling of a variable's path, and the type of its value. Raises: LookupError."""
    path: list[str | int] = []
    kind: Any = schema
    for part in variable.removeprefix(PREFIX).split(SEPARATOR):
        if is_section(kind):
            alias, kind = _field(kind, part)
            path.append(alias)
        elif get_origin(kind) is list:
            if not part.isdecimal():
                raise LookupError(f"{part!r} must be a position in a list (0, 1, …).")
            path.append(int(part))
            kind = get_args(kind)[0]
        elif get_origin(kind) is dict:
            path.append(_existing_name(part, raw, path))
            kind = get_args(kind)[1]
        elif kind is Any:
            path.append(part)
        else:
            raise LookupError(f"{dotted(tuple(path))} is a value and has no keys below it.")
    return tuple(path), kind


def _field(section: type[BaseModel], part: str) -> tuple[str, Any]:
    """The key and its type; an unknown one as it is, with any type."""
    aliases = {str(info.alias).lower(): str(info.alias) for info in section.model_fields.values()}
    alias = aliases.get(part.lower())
    return (alias, value_type(field_named(section, alias))) if alias else (part, Any)


def _existing_name(part: str, raw: Mapping[str, Any], path: list[str | int]) -> str:
    """Names (of providers) are the user's own: the file's spelling if it has one, else lower case."""
    place: Any = raw
    for key in path:
        place = place.get(key) if isinstance(place, Mapping) else None
    wanted = part.lower().replace("_", "-")
    names = place if isinstance(place, Mapping) else ()
    return next((name for name in names if name.lower().replace("_", "-") == wanted), part.lower())


def _set(raw: dict[str, Any], path: Path, value: Any) -> bool:
    """Whether it was set: not if the file has something of the wrong type along the path, which is reported itself.

    Raises: LookupError; then nothing was changed.
    """
    _check_positions(raw, path)
    place: Any = raw
    for key, following in zip(path, (*path[1:], None), strict=True):
        if isinstance(key, int) and isinstance(place, list):
            if key == len(place):
                place.append({})
        elif isinstance(key, int) or not isinstance(place, dict):
            return False
        if following is None:
            place[key] = value
        elif isinstance(place, dict):
            place = place.setdefault(key, [] if isinstance(following, int) else {})
        else:
            place = place[key]
    return True


def _check_positions(raw: dict[str, Any], path: Path) -> None:
    place: Any = raw
    for key in path:
        if isinstance(key, int):
            items = place if isinstance(place, list) else []
            if key > len(items):
                raise LookupError(f"the list has only {len(items)} items.")
            place = items[key] if key < len(items) else None
        else:
            place = place.get(key) if isinstance(place, dict) else None


def _value(text: str, kind: Any) -> Any:
    """The text itself if the configuration expects text or it is not JSON5, else its value (5, true, ["a"])."""
    if get_origin(kind) is not list and {str, SecretStr} & {kind, *get_args(kind)}:
        return text
    try:
        return json5.loads(text)
    except ValueError:
        return text
