"""One kind of event as it is sent to clients: its name, its data, and who may receive it."""

from __future__ import annotations

from dataclasses import dataclass

from onyx_jupyter.operations.scope import Scope
from onyx_jupyter.operations.wire import Wire


@dataclass(frozen=True, slots=True)
class EventType:
    """`scope` is what a caller needs in order to receive it."""

    name: str
    data: type[Wire]
    scope: Scope = "read"
