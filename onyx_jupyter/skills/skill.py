"""The data model of a skill, as read from its files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from onyx_jupyter.skills.parameters import Parameters

Kind = Literal["notebook", "text", "tool"]
Source = Literal["project", "workspace", "home", "packaged"]
State = Literal["ready", "untrusted", "missing", "broken", "shadowed"]

TOOL_PREFIX = "skill_"
MAX_NAME_CHARS = 64
MAX_DESCRIPTION_CHARS = 1024
# A person who trusts a skill is shown all of its text: a longer skill cannot be trusted.
MAX_SHOWN_CHARS = 400_000
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# `skill_read` is a tool of its own.
_TAKEN = frozenset({"read"})


class SkillProblem(Exception):
    """Why something cannot be a skill, worded for its author."""


@dataclass(frozen=True, slots=True)
class Requires:
    """What a skill needs: programs on the PATH, environment variables that are set, Python packages (PEP 508)."""

    bins: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    python: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill as read from its files. If `problem` is set, it can't be used, and the rest is what could be read.

    A Python file with a user's own tools (kind `tool`) is found and trusted in the same way; no agent reads or runs it
    as a skill.

    `path` is the real path of the notebook, the SKILL.md or the Python file; `folder` holds a text skill's files, and
    `files` names those beside SKILL.md. `digest` is the SHA-256 of everything that runs or instructs, without outputs.
    `text` is the same for people to read. `hashes` are the SHA-256 of the files as read, by path within `folder`.
    `content` is a notebook's nbformat 4 JSON without outputs.
    """

    name: str
    kind: Kind
    description: str
    source: Source
    path: Path
    digest: str = ""
    text: str = ""
    instructions: str = ""
    requires: Requires = field(default_factory=Requires)
    parameters: Parameters | None = None
    kernel: str | None = None
    language: str = "python"
    files: tuple[str, ...] = ()
    hashes: Mapping[str, str] = field(default_factory=dict)
    content: Mapping[str, Any] | None = None
    problem: str | None = None

    @property
    def folder(self) -> Path:
        return self.path.parent

    @property
    def id(self) -> str:
        """Identifies this file, even if another place has a skill of the same name."""
        return skill_id(self.source, self.path)

    @property
    def tool(self) -> str | None:
        """The name of the tool that runs it."""
        return TOOL_PREFIX + self.name.replace("-", "_") if self.kind == "notebook" else None


@dataclass(frozen=True, slots=True)
class Listed:
    """A skill and its current state here. `reason` says why it is not `ready`.

    `changed`: another version of these files was trusted before; `trusted_text` is the text of that version.
    """

    skill: Skill
    state: State
    reason: str | None = None
    trusted: bool = False
    changed: bool = False
    trusted_text: str | None = None

    @property
    def usable(self) -> bool:
        """Whether it is offered to an agent: an untrusted one is, and using it asks for trust."""
        return self.state in ("ready", "untrusted")


def skill_id(source: Source, path: Path) -> str:
    """The id of the skill in that file; `path` is a real path."""
    return f"{source}:{path}"


def checked_name(name: object, *, must_be: str | None = None) -> str:
    """Raises: SkillProblem."""
    if not isinstance(name, str) or len(name) > MAX_NAME_CHARS or not _NAME.fullmatch(name):
        shown = repr(name) if len(repr(name)) <= 80 else f"{repr(name)[:80]}…"
        raise SkillProblem(
            f"The name {shown} is not a valid skill name. Use up to {MAX_NAME_CHARS} lower-case letters and digits, "
            "words joined by single hyphens."
        )
    if name in _TAKEN:
        raise SkillProblem(f"The name {name!r} is taken by one of Onyx's tools. Choose another one.")
    if must_be is not None and name != must_be:
        raise SkillProblem(f"The name {name!r} differs from its folder's name, {must_be!r}. Make them the same.")
    return name


def too_long(text: str, what: str) -> str | None:
    """Why a skill with this text cannot be trusted; None if it can be shown in full."""
    if len(text) <= MAX_SHOWN_CHARS:
        return None
    return f"{what} {len(text):,} characters, too many to review; the limit is {MAX_SHOWN_CHARS:,}."


def checked_description(description: object) -> str:
    """Raises: SkillProblem."""
    text = description.strip() if isinstance(description, str) else ""
    if not text:
        raise SkillProblem("It has no description. Say in a sentence or two what it does and when to use it.")
    if len(text) > MAX_DESCRIPTION_CHARS:
        raise SkillProblem(f"Its description has {len(text):,} characters; the limit is {MAX_DESCRIPTION_CHARS:,}.")
    return text
