"""Builds the configuration: defaults, then onyx.json, then the environment."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

import json5
from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_core import ErrorDetails

from onyx_jupyter.config import json5_lines
from onyx_jupyter.config.schema import Config
from onyx_jupyter.config.sections import of_no_feature
from onyx_jupyter.errors import ConfigError

ENVIRONMENT_PREFIX = "ONYX_"
LEVEL_SEPARATOR = "__"
# Where API keys are set, and which values there can still be shown: a key is easily put one level too high.
_KEY_PLACES = (("providers",), ("tools", "web"), ("acp", "agents"))
_SHOWN_OF_THEM = ("baseUrl", "toolMode", "search", "searxngUrl", "allowPrivate", "command", "cwd")
_USER_IN_URL = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_LINE_IN_MESSAGE = re.compile(r"<string>:(\d+)\s*")


@dataclass(frozen=True, slots=True)
class Loaded:
    """`warnings` tell the user what has no effect, with the line."""

    config: Config
    warnings: tuple[str, ...] = ()


def load_config(path: Path, environment: Mapping[str, str] = os.environ) -> Config:
    """The configuration in force, without sections of features. Raises: as `load`."""
    return load(path, environment).config


def load(path: Path, environment: Mapping[str, str] = os.environ, schema: type[Config] = Config) -> Loaded:
    """The configuration in force; a missing file counts as an empty one, `schema` defines what it may contain.

    Environment variables are `ONYX_` and the key's path in upper case with `__` between (ONYX_RUNTIME__MAXTURNS=5).
    `${NAME}` in the file's strings becomes that variable's value.

    Raises: ConfigError naming key, value, line (or variable) and what is allowed.
    """
    document = _read(path)
    if not isinstance(document.value, dict):
        raise ConfigError(f"{path} must contain an object ({{…}}), not a {type(document.value).__name__}.", line=1)
    raw = _expanded(document.value, (), document, path, environment)
    variables = {}
    for name in sorted(environment):
        if name.startswith(ENVIRONMENT_PREFIX) and LEVEL_SEPARATOR in name:
            key_path, value_type = _key_path(name, raw, schema)
            _set(raw, key_path, _value(environment[name], value_type), name)
            variables[key_path] = name
    warnings = []
    for name in of_no_feature(raw, [*_known_keys(schema, ())]):
        where = f"{path}{_at(document.line_of((name,)))}"
        warnings.append(f"{where}: the section {name!r} has no effect because no feature with that name is installed.")
        del raw[name]
    try:
        return Loaded(schema.model_validate(raw), tuple(warnings))
    except ValidationError as error:
        raise _config_error(error.errors()[0], path, document, variables, schema) from error


def readable(path: Path, environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """What can be read of file and environment despite an error, unchecked; empty if nothing can.

    Duplicate keys are merged. A reference to a variable that is not set stays as it is.
    """
    try:
        text = path.read_text(encoding="utf-8")
        value = json5.loads(text, object_pairs_hook=_merged)
        raw = _known_expanded(value, environment) if isinstance(value, dict) else {}
    except (OSError, ValueError, RecursionError):
        raw = {}
    for name in sorted(environment):
        if name.startswith(ENVIRONMENT_PREFIX) and LEVEL_SEPARATOR in name:
            with suppress(ConfigError):
                key_path, value_type = _key_path(name, raw, Config)
                _set(raw, key_path, _value(environment[name], value_type), name)
    return raw


def _merged(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for key, value in pairs:
        before = merged.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            value = _merged([*before.items(), *value.items()])
        elif isinstance(before, list) and isinstance(value, list):
            value = [*before, *value]
        merged[key] = value
    return merged


def _known_expanded(value: Any, environment: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _known_expanded(part, environment) for key, part in value.items()}
    if isinstance(value, list):
        return [_known_expanded(part, environment) for part in value]
    if not isinstance(value, str):
        return value
    return _REFERENCE.sub(lambda match: environment.get(match.group(1), match.group()), value)


def _read(path: Path) -> json5_lines.Document:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return json5_lines.Document({}, {})
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.") from error
    try:
        return json5_lines.parse(text)
    except RecursionError as error:
        raise ConfigError(f"{path} is nested too deeply.") from error
    except ValueError as error:
        found = _LINE_IN_MESSAGE.search(str(error))
        line = int(found.group(1)) if found else None
        reason = _LINE_IN_MESSAGE.sub("", str(error))
        raise ConfigError(f"{path}{_at(line)} is not valid JSON5: {reason}.", line=line) from error


def _expanded(
    value: Any, key_path: json5_lines.Path, document: json5_lines.Document, path: Path, environment: Mapping[str, str]
) -> Any:
    if isinstance(value, dict):
        return {k: _expanded(v, (*key_path, k), document, path, environment) for k, v in value.items()}
    if isinstance(value, list):
        return [_expanded(v, (*key_path, i), document, path, environment) for i, v in enumerate(value)]
    if not isinstance(value, str):
        return value
    for name in _REFERENCE.findall(value):
        if name not in environment:
            line = document.line_of(key_path)
            key = _dotted(key_path)
            raise ConfigError(
                f"{path}{_at(line)}: {key} refers to ${{{name}}}, but that environment variable is not set.",
                key=key,
                line=line,
            )
    return _REFERENCE.sub(lambda match: environment[match.group(1)], value)


def _key_path(variable: str, raw: Mapping[str, Any], whole: type[Config]) -> tuple[json5_lines.Path, Any]:
    """The configuration's own spelling of a variable's path, and the type of its value."""
    path: list[str | int] = []
    schema: Any = whole
    for part in variable.removeprefix(ENVIRONMENT_PREFIX).split(LEVEL_SEPARATOR):
        if isinstance(schema, type) and issubclass(schema, BaseModel):
            fields = {str(info.alias).lower(): info for info in schema.model_fields.values()}
            info = fields.get(part.lower())
            if info is None:
                known = ", ".join(sorted(str(field.alias) for field in fields.values()))
                raise ConfigError(f"{variable}: unknown key {part!r}. Known keys: {known}.", key=variable)
            path.append(str(info.alias))
            schema = info.annotation
        elif get_origin(schema) is list:
            if not part.isdecimal():
                raise ConfigError(f"{variable}: {part!r} must be a position in a list (0, 1, …).", key=variable)
            path.append(int(part))
            schema = get_args(schema)[0]
        elif get_origin(schema) is dict:
            path.append(_existing_name(part, raw, path))
            schema = get_args(schema)[1]
        else:
            raise ConfigError(f"{variable}: {_dotted(tuple(path))} is a value and has no keys below it.", key=variable)
    return tuple(path), schema


def _existing_name(part: str, raw: Mapping[str, Any], path: list[str | int]) -> str:
    """Names (of providers) are the user's own: the file's spelling if it has one, else lower case."""
    place: Any = raw
    for key in path:
        place = place.get(key) if isinstance(place, dict) else None
    wanted = part.lower().replace("_", "-")
    names = place if isinstance(place, dict) else ()
    return next((name for name in names if name.lower().replace("_", "-") == wanted), part.lower())


def _set(raw: dict[str, Any], path: json5_lines.Path, value: Any, variable: str) -> None:
    """If the file has a value of the wrong type along the path, nothing is set: that line is reported as the error."""
    place: Any = raw
    for key, following in zip(path, (*path[1:], None), strict=True):
        if isinstance(key, int) and isinstance(place, list):
            if key > len(place):
                raise ConfigError(f"{variable}: the list has only {len(place)} items.", key=variable)
            if key == len(place):
                place.append({})
        elif isinstance(key, int) or not isinstance(place, dict):
            return
        if following is None:
            place[key] = value
        elif isinstance(place, dict):
            place = place.setdefault(key, [] if isinstance(following, int) else {})
        else:
            place = place[key]


def _value(text: str, schema: Any) -> Any:
    """The text itself if the configuration expects text or it is not JSON5, else its value (5, true, ["a"])."""
    if get_origin(schema) is not list and {str, SecretStr} & {schema, *get_args(schema)}:
        return text
    try:
        return json5.loads(text)
    except ValueError:
        return text


def _config_error(
    error: ErrorDetails,
    path: Path,
    document: json5_lines.Document,
    variables: Mapping[json5_lines.Path, str],
    schema: type[Config],
) -> ConfigError:
    key_path = tuple(error["loc"])
    key = _dotted(key_path)
    variable = next((name for place, name in variables.items() if key_path[: len(place)] == place), None)
    line = None if variable else document.line_of(key_path)
    where = f"{variable} (environment)" if variable else f"{path}{_at(line)}"
    if error["type"] == "extra_forbidden":
        return ConfigError(f"{where}: unknown key {key!r}.{_suggestion(key_path, schema)}", key=key, line=line)
    shown = "the value" if _may_be_secret(key_path) else _shown(error["input"])
    subject = (f"{key}: " if error["type"] == "value_error" else f"{key} is {shown}: ") if key else ""
    return ConfigError(f"{where}: {subject}{_reason(error)}.", key=key, line=line)


def _reason(error: ErrorDetails) -> str:
    if error["type"] in ("model_type", "dict_type"):
        return "it should be an object ({…})"
    reason = error["msg"].removeprefix("Value error, ")
    return reason[0].lower() + reason[1:]


def _suggestion(key_path: json5_lines.Path, schema: type[Config]) -> str:
    known = sorted(_known_keys(schema, key_path[:-1]))
    close = difflib.get_close_matches(str(key_path[-1]), known, n=1)
    return (f" Did you mean {close[0]!r}?" if close else "") + f" Known here: {', '.join(known)}."


def _known_keys(schema: Any, path: json5_lines.Path) -> Iterator[str]:
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        if not path:
            yield from (str(info.alias) for info in schema.model_fields.values())
            return
        for info in schema.model_fields.values():
            if info.alias == path[0]:
                yield from _known_keys(info.annotation, path[1:])
    elif get_origin(schema) in (list, dict) and path:
        yield from _known_keys(get_args(schema)[-1], path[1:])


def _may_be_secret(key_path: json5_lines.Path) -> bool:
    """Where API keys are set, only values that cannot be one are shown."""
    stands_there = any(key_path[: len(place)] == place for place in _KEY_PLACES)
    return stands_there and key_path[-1] not in _SHOWN_OF_THEM


def _dotted(key_path: json5_lines.Path) -> str:
    text = ""
    for part in key_path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _at(line: int | None) -> str:
    return f", line {line}" if line else ""


def _shown(value: Any) -> str:
    text = _USER_IN_URL.sub("…", repr(value))
    return text if len(text) <= 60 else text[:57] + "…"
