"""One capability of Onyx, declared as a value: what it needs, and everything that it brings. It starts nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from onyx_jupyter.agent.processor import Processor
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.parts import Key, Parts
from onyx_jupyter.toolsets.toolset import Toolset

Component = Mapping[str, Any]
"""How something is, as `health.check` tells it: `ok`, `message`, and `hint` where there is something to do."""
Components = Mapping[str, Component]


async def nothing() -> None:
    """What a feature does that has nothing to do."""


async def _no_components() -> Components:
    return {}


def _no_processors(parts: Parts) -> Sequence[Processor]:
    return ()


@dataclass(frozen=True, slots=True)
class Built:
    """A feature of one server.

    `parts` are what it provides. `start` makes it work, on a server that nobody may be connected to: it is light, and
    loads no library that only an answer needs. `warm` loads what the first answer will need. `close` ends its work,
    also where it was never started. `health` says how its components are, by name. `begin_as_owner` comes
    behind `start` on one server of a home alone, for what must be done once: on the first, or on the next one then.
    `prepare` is called whenever a person begins to write: it loads again what has gone for want of use. `catch_up` is
    called then and with each message: it has the feature's index follow what there is to be found, and returns at once.
    """

    parts: Mapping[Key[Any], Any] = field(default_factory=dict)
    start: Callable[[], Awaitable[None]] = nothing
    warm: Callable[[], Awaitable[None]] = nothing
    close: Callable[[], Awaitable[None]] = nothing
    health: Callable[[], Awaitable[Components]] = _no_components
    begin_as_owner: Callable[[], Awaitable[None]] = nothing
    prepare: Callable[[], Awaitable[None]] = nothing
    catch_up: Callable[[], None] = lambda: None


def _built_of_nothing(parts: Parts) -> Built:
    return Built()


@dataclass(frozen=True, slots=True)
class Feature:
    """`make` builds it from what it `requires`, and from what it `uses` where that is there, too.

    Building costs nothing and reads no file.

    `settings` is the model of its section in onyx.json, called like the feature. `toolsets` are what models can call,
    `prompt` gives a section of the system prompt (None where it has nothing to say; the same text from message to
    message, or the provider's cache is lost), `processors` are new ones for each run. Without an `essential` one Onyx
    does not start; any other that fails leaves the rest running.
    """

    name: str
    make: Callable[[Parts], Built] = _built_of_nothing
    requires: tuple[Key[Any], ...] = ()
    uses: tuple[Key[Any], ...] = ()
    provides: tuple[Key[Any], ...] = ()
    settings: type[BaseModel] | None = None
    operations: tuple[Operation, ...] = ()
    events: tuple[EventType, ...] = ()
    toolsets: tuple[Toolset, ...] = ()
    prompt: Callable[[Parts], str | None] | None = None
    processors: Callable[[Parts], Sequence[Processor]] = _no_processors
    essential: bool = False
