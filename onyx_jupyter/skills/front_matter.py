"""Parses the YAML with a skill's name, description and needs. It never constructs anything but plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from onyx_jupyter.skills.skill import Requires, SkillProblem

MAX_CHARS = 20_000
_FENCED = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_KEYS = {"bins": ("bins", "bin"), "env": ("env",), "python": ("python", "packages", "pythonPackages")}


def split_front_matter(text: str) -> tuple[Mapping[str, Any], str]:
    """The YAML between the `---` lines, and the text after them. Raises: SkillProblem."""
    fenced = _FENCED.match(text)
    if fenced is None:
        raise SkillProblem("It does not begin with YAML between two `---` lines (name and description).")
    return parse_yaml(fenced[1]), text[fenced.end() :]


def parse_yaml(text: str) -> Mapping[str, Any]:
    """Parses a YAML mapping. Raises: SkillProblem with the line."""
    import yaml

    if len(text) > MAX_CHARS:
        raise SkillProblem(f"Its YAML is longer than {MAX_CHARS:,} characters.")
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or "it is not YAML"
        raise SkillProblem(f"Its YAML cannot be read{where}: {problem}.") from error
    except (ValueError, RecursionError) as error:
        raise SkillProblem(f"Its YAML cannot be read: {error}.") from error
    if not isinstance(data, Mapping):
        raise SkillProblem("Its YAML is not a mapping: it needs `name: …` and `description: …`.")
    return {str(key): value for key, value in data.items()}


def requires_of(data: Mapping[str, Any]) -> Requires:
    """`requires: {bins, env, python}`, each a list of strings or one string. Raises: SkillProblem."""
    given = data.get("requires") or {}
    if not isinstance(given, Mapping):
        raise SkillProblem("`requires` is not a mapping. It takes lists: bins, env, python.")
    unknown = sorted({str(key) for key in given} - {key for keys in _KEYS.values() for key in keys})
    if unknown:
        raise SkillProblem(f"`requires` has the unknown key {unknown[0]!r}. It takes bins, env, python.")
    found = {name: _texts(given, keys) for name, keys in _KEYS.items()}
    return Requires(found["bins"], found["env"], found["python"])


def _texts(given: Mapping[str, Any], keys: tuple[str, ...]) -> tuple[str, ...]:
    texts: list[str] = []
    for key in keys:
        value = given.get(key) or []
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) and item.strip() for item in items):
            raise SkillProblem(f"`requires.{key}` is not a list of strings.")
        texts += [item.strip() for item in items]
    return tuple(dict.fromkeys(texts))
