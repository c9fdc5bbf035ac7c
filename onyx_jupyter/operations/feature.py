"""One capability of Onyx, declared as a value: what it needs, and everything that it contributes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from onyx_jupyter.agent.processor import Processor
from onyx_jupyter.operations.dependencies import Key, Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.toolsets.toolset import Toolset

Component = Mapping[str, Any]
"""A component's health as reported by `health.check`: `ok`, `message`, and `hint` if there is something to do."""
Components = Mapping[str, Component]


async def do_nothing() -> None:
    """The default for what a feature need not do."""


async def _no_components() -> Components:
    return {}


def _no_processors(parts: Parts) -> Sequence[Processor]:
    return ()


@dataclass(frozen=True, slots=True)
class Built:
    """A feature of one server.

    `parts` are what it provides. `start` makes it work, on a server that may have no clients: it is light, and loads no
    library that only an answer needs. `warm` loads what the first answer will need. `close` ends its work, even if it
    was never started. `health` reports its components by name. `begin_as_owner` is called after `start` on only one
    server of a home, for what must be done once: the first, or when that has ended, the next. `prepare` is called
    whenever a person begins to write: it reloads what was unloaded while idle. `catch_up` is called then and with each
    message: it brings the feature's index up to date in the background, and returns at once.
    """

    parts: Mapping[Key[Any], Any] = field(default_factory=dict)
    start: Callable[[], Awaitable[None]] = do_nothing
    warm: Callable[[], Awaitable[None]] = do_nothing
    close: Callable[[], Awaitable[None]] = do_nothing
    health: Callable[[], Awaitable[Components]] = _no_components
    begin_as_owner: Callable[[], Awaitable[None]] = do_nothing
    prepare: Callable[[], Awaitable[None]] = do_nothing
    catch_up: Callable[[], None] = lambda: None


def _built_of_nothing(parts: Parts) -> Built:
    return Built()


@dataclass(frozen=True, slots=True)
class Feature:
    """`make` builds it from what it `requires`, and from what it `uses` if that is available.

    Building costs nothing and reads no file.

    `settings` is the model of its section in onyx.json, named like the feature. `toolsets` are what models can call,
    `prompt` returns a section of the system prompt (None if it has nothing to say; the same text from message to
    message, or the provider's cache is lost), `processors` returns new ones for each run. If an `essential` feature
    fails, Onyx does not start; any other that fails leaves the rest running.
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
