"""What the user is shown about a call before it runs, and the questions of an agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onyx_jupyter.messages import Label

CARD_FACTS = frozenset({"why", "mustAsk", "sessionScope", "alwaysScope", "alwaysBlocked", "cautions"})
"""Names that a card uses beside a preview's details: a detail with such a name would not be shown."""


@dataclass(frozen=True, slots=True)
class ExactScope:
    """What "always exactly this" covers besides the tool and its arguments.

    `facts` are what the arguments only refer to: the real path, the folder of a command, the source of a cell to run.
    `without` names arguments that are not covered, since a fact replaces them or they change nothing. `shell` is a
    shell command: each of its simple commands is then allowed separately, instead of the call. `commands` are shell
    commands within the call: if one of them cannot be covered exactly, or if `unsure` says why, neither can the call.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    shell: str | None = None
    commands: tuple[str, ...] = ()
    unsure: str = ""


@dataclass(frozen=True, slots=True)
class ToolPreview:
    """What the user is shown before a call runs.

    `details` is exactly what will run (command and cwd, cell diff …); `grant` is the key under which "allow for this
    session" is remembered, and `grant_text` says in words what it covers. Neither applies to a shell command: there a
    session allows the same as always, until the server ends. `must_ask` is the reason to ask the user regardless of
    earlier approvals and in every mode ("it would leave 1 of 9 cells"); empty if there is none. `also` names other
    tools whose work the call does, too, if only a look can tell: the call is refused if one of them is. `activity` is
    what the call does, for the screens; the caller fills it in.
    """

    summary: str
    details: Mapping[str, Any]
    grant: str
    grant_text: str
    exactly: ExactScope = field(default_factory=ExactScope)
    must_ask: str = ""
    also: tuple[str, ...] = ()
    activity: Label | None = None


@dataclass(frozen=True, slots=True)
class UserQuestion:
    """A question of the agent; `free_text` allows answers other than the choices."""

    question: str
    choices: tuple[str, ...] = ()
    free_text: bool = True


@dataclass(frozen=True, slots=True)
class UserAnswer:
    """`text` is None if the user declined or did not answer; `reason` then says which, for the model."""

    text: str | None
    reason: str = ""
