"""Refuses what is wrong in a configuration, each key alone, and puts in its place what allows no more than was meant.

What holds instead is the key's default, or what `IfRefused` says at the key. Three more rules never let an error allow
more: a section that is no object counts as if each marked key in it were refused; so does a marked key whose name is
misspelt; and what an unknown key calls `allow` or `deny` restricts the agents all the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from onyx_jupyter.config.json5_lines import Path
from onyx_jupyter.config.problems import dotted, misspelt, suggestion, what_is_wrong
from onyx_jupyter.config.schema import AgentConfig, AgentTools, Config
from onyx_jupyter.config.schema.agents import NO_TOOLS
from onyx_jupyter.config.schema.section import Entry, IfRefused, field_named, is_section, value_type

# Each pass refuses something, and what is refused can make another key wrong: an agent that a binding names.
_MOST_PASSES = 20
_AGENTS: Path = ("agents", "list")
_DEFAULT = IfRefused(None, "its default applies")
_STRICTEST = "the keys in it that restrict have their strictest value"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One key that is refused, or unknown; `path` is that of the file, `words` are without place and full stop."""

    path: Path
    words: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class _Restriction:
    """Names of tools; `agent` is the position in the file's list, None for every agent."""

    agent: int | None
    allow: list[str] | None
    deny: list[str]


@dataclass
class Refusing:
    """A configuration that is being corrected; `raw` is changed until it is valid."""

    raw: dict[str, Any]
    schema: type[Config]
    found: list[Refusal] = field(default_factory=list)
    _restrictions: list[_Restriction] = field(default_factory=list)
    _kept: dict[Path, list[int]] = field(default_factory=dict)
    """List → the file's positions of the entries that are left; only of lists that lost one."""

    def valid(self) -> Config:
        """The configuration without what is refused."""
        for _ in range(_MOST_PASSES):
            try:
                return self._restricted(self.schema.model_validate(self.raw))
            except ValidationError as error:
                self._refuse_all(error.errors(include_url=False))
        return self.schema.model_validate(closed(self.schema))

    def refuse(self, path: Path, words: str) -> None:
        """Refuses the value at that path; an unknown key is left for `valid`."""
        if len(list(_steps(self.schema, path))) == len(path):
            place, mark = _target(self.schema, path)
            self._note(path, words, mark)
            self._put(place, mark)

    def _refuse_all(self, errors: Sequence[ErrorDetails]) -> None:
        # There is an error for each type that a value could have; one of them is enough.
        by_key = {self._key(error): error for error in reversed(errors)}
        entries: dict[Path, bool] = {}
        for path, error in reversed(by_key.items()):
            if error["type"] == "extra_forbidden":
                place, mark = self._refuse_unknown(path, error["input"])
            else:
                place, mark = _target(self.schema, path, is_conflict=error["type"] == "conflict")
                self._note(path, what_is_wrong(error, self._in_file(path)), mark)
            if mark is not None and mark.value is Entry.REFUSED:
                entries[place] = error["type"] == "conflict"
            elif mark is not None:
                self._put(place, mark)
        for place, is_double in sorted(entries.items(), reverse=True):
            self._drop(place, is_double=is_double)

    def _refuse_unknown(self, path: Path, value: Any) -> tuple[Path, IfRefused | None]:
        """What holds if it is a misspelling of a key that is marked; the key itself is taken out."""
        parent: Any = self._at(path[:-1])
        key = str(path[-1])
        section = next((kind for place, kind, _ in _steps(self.schema, path) if place == path[:-1]), self.schema)
        known = [str(info.alias) for info in section.model_fields.values()]
        meant = misspelt(key, known)
        mark, place = None, path
        if meant is not None and meant not in parent:
            place, mark = _target(self.schema, (*path[:-1], meant))
            mark = None if mark is _DEFAULT else mark
        parent.pop(path[-1], None)
        if meant is not None and mark is not None and mark.value is Entry.REFUSED:
            parent[meant] = value  # tells what the entry was, while it is taken out
        if len(path) == 1 and meant is None and isinstance(value, Mapping):
            words = f"the section {key!r} has no effect because no feature with that name is installed"
            self.found.append(Refusal(path, words, is_error=False))
            return place, None
        words = f"unknown key {dotted(self._in_file(path))!r}.{suggestion(key, known)}".rstrip(".")
        allow, deny = names_in({key: value})
        if allow is not None or deny:
            of_agent = self._in_file(path)[2] if path[:2] == _AGENTS and len(path) > 2 else None
            agent = of_agent if isinstance(of_agent, int) else None
            self._restrictions.append(_Restriction(agent, allow, deny))
            words += f". What it allows or denies restricts {'this' if agent is not None else 'every'} agent"
        self._note(path, words, mark)
        return place, mark

    def _note(self, path: Path, words: str, mark: IfRefused | None) -> None:
        if mark is not None:
            words = f"{words}. Until this is corrected, {_instead(mark)}"
        self.found.append(Refusal(self._in_file(path), words, is_error=mark is not None))

    def _put(self, place: Path, mark: IfRefused) -> None:
        if mark.value is Entry.REFUSED:
            self._drop(place)
            return
        parent = self._at(place[:-1])
        if not isinstance(parent, dict):
            return  # more than this key was refused
        if mark is _DEFAULT:
            parent.pop(place[-1], None)
        else:
            parent[place[-1]] = deepcopy(mark.value)

    def _drop(self, place: Path, *, is_double: bool = False) -> None:
        items, position = self._at(place[:-1]), place[-1]
        if not isinstance(items, list) or not isinstance(position, int):
            return
        kept = self._kept.setdefault(place[:-1], list(range(len(items))))
        entry = items.pop(position)
        kept.pop(position)
        if place[:-1] == _AGENTS:
            if is_double:
                self._dropped_double(items, entry)
            else:
                self._dropped_agent(items, entry, position)

    def _dropped_double(self, items: list[Any], entry: dict[str, Any]) -> None:
        """The agent of the same name gets the restrictions of both."""
        twin = next(at for at, one in enumerate(items) if one.get("id", "main") == entry.get("id", "main"))
        allow, deny = names_in(entry.get("tools", {}))
        self._restrictions.append(_Restriction(self._kept[_AGENTS][twin], allow, deny))
        if "default" in entry:
            items[twin].setdefault("default", entry["default"])

    def _dropped_agent(self, items: list[Any], entry: Any, position: int) -> None:
        """No other agent answers in its place."""
        others = [one for one in items if isinstance(one, dict)]
        can_be_default = position == 0 or not isinstance(entry, dict) or entry.get("default", False) is not False
        if can_be_default and not any(one.get("default") is True for one in others):
            ids = {one.get("id", "main") for one in others}
            free = next(name for name in ("main", *(f"unreadable-{n}" for n in range(1, 99))) if name not in ids)
            items.append({**deepcopy(NO_TOOLS), "id": free})
            self._kept[_AGENTS].append(position)

    def _restricted(self, config: Config) -> Config:
        """The agents with what unknown keys say about tools."""
        if not self._restrictions:
            return config
        positions = self._kept.get(_AGENTS, range(len(config.agents.items)))
        items = list(config.agents.items)
        for one in self._restrictions:
            items = [
                agent if one.agent not in (None, position) else _with(agent, one)
                for position, agent in zip(positions, items, strict=True)
            ]
        return config.model_copy(update={"agents": config.agents.model_copy(update={"items": items})})

    def _key(self, error: ErrorDetails) -> Path:
        """The path of an error, without pydantic's own parts behind it."""
        path: Path = (*error["loc"], *error.get("ctx", {}).get("key", ()))
        if error["type"] in ("missing", "conflict"):
            return path
        place: Any = self.raw
        for end, part in enumerate(path):
            is_there = part in place if isinstance(place, dict) else isinstance(place, list) and isinstance(part, int)
            if not is_there:
                return path[:end]
            place = place[part]
        return path

    def _in_file(self, path: Path) -> Path:
        for end in range(1, len(path)):
            kept, part = self._kept.get(path[:end]), path[end]
            if kept is not None and isinstance(part, int):
                return (*path[:end], kept[part], *path[end + 1 :])
        return path

    def _at(self, path: Path) -> Any:
        place: Any = self.raw
        for part in path:
            if isinstance(place, dict):
                place = place.get(str(part))
            elif isinstance(place, list) and isinstance(part, int) and part < len(place):
                place = place[part]
            else:
                return None
        return place


def closed(section: type[BaseModel]) -> dict[str, Any]:
    """The section as if every marked key in it were refused."""
    values = {}
    for info in section.model_fields.values():
        mark, kind = mark_of(info), value_type(info)
        if mark is not None and mark.value is not Entry.REFUSED:
            values[str(info.alias)] = deepcopy(mark.value)
        elif mark is None and is_section(kind) and (inner := closed(kind)):
            values[str(info.alias)] = inner
    return values


def mark_of(info: FieldInfo | None) -> IfRefused | None:
    return next((mark for mark in info.metadata if isinstance(mark, IfRefused)), None) if info else None


def names_in(value: object) -> tuple[list[str] | None, list[str]]:
    """The names in every `allow` (None if there is none) and `deny` at any depth."""
    allow: list[str] | None = None
    deny: list[str] = []
    if isinstance(value, Mapping):
        if "allow" in value and value["allow"] is not None:
            allow = _names(value["allow"])
        deny = _names(value.get("deny"))
    parts: Iterable[Any] = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for part in parts:
        more_allowed, more_denied = names_in(part)
        allow, deny = _both(allow, more_allowed), [*deny, *more_denied]
    return allow, deny


def _names(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _both(allow: list[str] | None, other: list[str] | None) -> list[str] | None:
    return allow if other is None else other if allow is None else [name for name in allow if name in other]


def _with(agent: AgentConfig, more: _Restriction) -> AgentConfig:
    """That agent with only what both allow, and without what either denies."""
    had = agent.tools
    deny = [*had.deny, *(name for name in more.deny if name not in had.deny)]
    return agent.model_copy(update={"tools": AgentTools(allow=_both(had.allow, more.allow), deny=deny)})


def _target(schema: type[Config], path: Path, *, is_conflict: bool = False) -> tuple[Path, IfRefused]:
    """What has to be replaced for an error at that path to go away, and by what."""
    entry: Path = ()
    found, last, is_required = path, Any, False
    for place, kind, info in _steps(schema, path):
        if isinstance(place[-1], int):
            entry = place
        mark = None if is_conflict else mark_of(info)
        if mark is not None and (place == path or _items_of(kind) is None):
            return (entry, mark) if mark.value is Entry.REFUSED else (place, mark)
        found, last, is_required = place, kind, info is not None and info.is_required()
    if found == entry or is_required:
        return entry, IfRefused(Entry.REFUSED)
    instead = closed(last) if is_section(last) and not is_conflict else {}
    return (found, IfRefused(instead, _STRICTEST)) if instead else (found, _DEFAULT)


def _steps(schema: type[BaseModel], path: Path) -> Iterator[tuple[Path, Any, FieldInfo | None]]:
    """Path, type and field of each key along a path, up to the last one that the schema knows."""
    kind: Any = schema
    for end, part in enumerate(path, 1):
        info = field_named(kind, str(part)) if is_section(kind) else None
        items = None if is_section(kind) else _items_of(kind)
        if info is None and items is None:
            return
        kind = value_type(info) if info is not None else items
        yield path[:end], kind, info


def _items_of(kind: Any) -> type[BaseModel] | None:
    """The section that a list or an object of them has in each place."""
    inner = get_args(kind)[-1] if get_origin(kind) in (list, dict) else None
    return inner if is_section(inner) else None


def _instead(mark: IfRefused) -> str:
    if mark.words or isinstance(mark.value, Entry):
        return mark.words or mark.value.value
    return f"{json.dumps(mark.value)} applies"
