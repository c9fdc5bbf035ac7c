"""What a person is shown of a call before it runs, and what the agent may ask them. It never holds behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onyx_jupyter.messages import Label

CARD_FACTS = frozenset({"why", "mustAsk", "sessionScope", "alwaysScope", "alwaysBlocked", "cautions"})
"""What a card says of its own beside a preview's details: no detail may have such a name, it would not be shown."""


@dataclass(frozen=True, slots=True)
class Exactly:
    """What "always exactly this" binds beside the tool and its arguments.

    `facts` are what the arguments only point at: a path's real one, the folder of a command, the source of a cell to
    run. `without` names arguments that are not bound, since a fact stands for them or they change nothing. `shell` is a
    shell command: each of its simple commands is then allowed by itself, instead of the call. `commands` are shell
    commands within the call: where one of them cannot be bound exactly, or where `unsure` says why, the call cannot.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    shell: str | None = None
    commands: tuple[str, ...] = ()
    unsure: str = ""


@dataclass(frozen=True, slots=True)
class ToolPreview:
    """What a person is shown before a call runs.

    `details` is exactly what will run (command and cwd, cell diff …); `grant` is the key under which "allow for this
    session" is remembered, and `grant_text` says in words what it covers. Neither counts for a shell command: there a
    session allows the same as always, until the server ends. `must_ask` is the reason why a person is asked whatever
    was allowed before and in every mode ("it would leave 1 of 9 cells"); empty where there is none. `also` names other
    tools whose work the call does, too, as only a look can tell: it is refused where one of them is. `activity` is what
    the call does, for the screens; whoever asks fills it in.
    """

    summary: str
    details: Mapping[str, Any]
    grant: str
    grant_text: str
    exactly: Exactly = field(default_factory=Exactly)
    must_ask: str = ""
    also: tuple[str, ...] = ()
    activity: Label | None = None


@dataclass(frozen=True, slots=True)
class UserQuestion:
    """What the agent wants to know; `free_text` allows other words than the choices."""

    question: str
    choices: tuple[str, ...] = ()
    free_text: bool = True


@dataclass(frozen=True, slots=True)
class UserAnswer:
    """`text` is None where the person declined or nobody answered; `reason` then says which, for the model."""

    text: str | None
    reason: str = ""
