"""Builds the configuration: defaults, then onyx.json, then the environment. What is wrong is refused alone."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onyx_jupyter.config import json5_lines
from onyx_jupyter.config.environment import apply_variables, expand
from onyx_jupyter.config.named_keys import named_keys
from onyx_jupyter.config.problems import Problem, at_line, dotted
from onyx_jupyter.config.refusals import Refusal, Refusing
from onyx_jupyter.config.roles import differing
from onyx_jupyter.config.schema import Config
from onyx_jupyter.errors import ConfigError

_LINE_IN_MESSAGE = re.compile(r"<string>:(\d+)\s*")


@dataclass(frozen=True)
class Loaded:
    """`problems` in the order of the file; `written` is what file and environment say, unchecked.

    `named_keys` (provider → variable) are the environment variables that hold API keys.
    """

    config: Config
    problems: tuple[Problem, ...]
    written: Mapping[str, Any] = field(repr=False)
    named_keys: Mapping[str, str] = field(default_factory=dict)


def read_text(path: Path) -> str:
    """The file's text; a missing file counts as an empty one. Raises: ConfigError."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.") from error


def load(text: str, path: Path, environment: Mapping[str, str] = os.environ, schema: type[Config] = Config) -> Loaded:
    """The configuration of a file with that text at `path`; `schema` defines what it may contain.

    Environment variables are `ONYX_` and the key's path in upper case with `__` between (ONYX_RUNTIME__MAXTURNS=5).
    `${NAME}` in the file's strings becomes that variable's value. A key that is unknown or has a value that is not
    allowed has no effect, or restricts (`refusals`), and is one of the problems.

    Raises: ConfigError, with the line where it is known, if the text is not a JSON5 object.
    """
    document = _parsed(text, path)
    raw, missing = expand(document.value, environment)
    variables, problems = apply_variables(raw, environment, schema)
    written, _ = expand(raw, {})
    refusing = Refusing(raw, schema)
    for one in missing:
        if dotted(one.path) not in map(dotted, variables):
            words = f"{dotted(one.path)} refers to ${{{one.name}}}, but that environment variable is not set"
            refusing.refuse(one.path, words)
    config = refusing.valid()
    problems += [_problem(one, path, document, variables) for one in refusing.found]
    problems += [_overridden(*keys, path, document) for keys in differing(config)]
    in_order = tuple(sorted(problems, key=lambda one: one.line or 0))
    return Loaded(config, in_order, written, named_keys(document.value, variables))


def _parsed(text: str, path: Path) -> json5_lines.Document:
    try:
        document = json5_lines.parse(text)
    except RecursionError as error:
        raise ConfigError(f"{path} is nested too deeply.") from error
    except ValueError as error:
        found = _LINE_IN_MESSAGE.search(str(error))
        line = int(found.group(1)) if found else None
        reason = _LINE_IN_MESSAGE.sub("", str(error))
        raise ConfigError(f"{path}{at_line(line)} is not valid JSON5: {reason}.", line=line) from error
    if not isinstance(document.value, dict):
        raise ConfigError(f"{path} must contain an object ({{…}}), not a {type(document.value).__name__}.", line=1)
    return document


def _problem(
    one: Refusal, path: Path, document: json5_lines.Document, variables: Mapping[json5_lines.Path, str]
) -> Problem:
    variable = next((name for place, name in variables.items() if one.path[: len(place)] == place), None)
    if one.path not in document.lines:  # a section that only variables made
        below = (name for place, name in variables.items() if place[: len(one.path)] == one.path)
        variable = variable or next(below, None)
    line = None if variable else document.line_of(one.path)
    where = f"{variable} (environment)" if variable else f"{path}{at_line(line)}"
    message = f"{where}: {one.words}."
    return Problem("error" if one.is_error else "warning", message, dotted(one.path), line, variable)


def _overridden(key: str, alias: str, path: Path, document: json5_lines.Document) -> Problem:
    line = document.line_of(tuple(alias.split(".")))
    message = f"{path}{at_line(line)}: {alias} has no effect because {key} names another model."
    return Problem("warning", message, alias, line)
