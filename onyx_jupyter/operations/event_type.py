"""One kind of event as it is told outside: its name, its data, and who may hear of it."""

from __future__ import annotations

from dataclasses import dataclass

from onyx_jupyter.operations.scope import Scope
from onyx_jupyter.operations.wire import Wire


@dataclass(frozen=True, slots=True)
class EventType:
    """`scope` is what a caller needs in order to hear of it."""

    name: str
    data: type[Wire]
    scope: Scope = "read"
