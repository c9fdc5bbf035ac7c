"""One operation of Onyx: its name, parameters and result, who may call it, and its handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from onyx_jupyter.operations.scope import Scope
from onyx_jupyter.operations.wire import Wire

Dispatch = Literal["inline", "beside", "ordered"]
Callers = Literal["anyone", "tab"]
Handler = Callable[[Any, Any], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Operation:
    """`handler` takes the parsed parameters and the caller, and returns the result in the wire form of `result`.

    `dispatch` says how the requests of one connection are answered: `inline` one after the other; `beside` the others,
    if it may wait for a network or a kernel, so that Stop never waits behind it; `ordered` one after the other in a
    queue of its own, if the parameter `reads` has to be read first, maybe from the client itself.
    `streams`: events follow the result, sent to the caller. `callers` is `tab` if only a page that may have notebooks
    open can call it. `before_ready`: it is answered even if Onyx cannot be made ready, and says why.
    """

    name: str
    params: type[Wire]
    result: type[Wire]
    handler: Handler
    scope: Scope
    dispatch: Dispatch = "inline"
    reads: str = ""
    callers: Callers = "anyone"
    streams: bool = False
    before_ready: bool = False

    def must_wait(self, params: Mapping[str, Any]) -> bool:
        """Whether these raw parameters contain what an `ordered` operation has to read first."""
        return self.dispatch == "ordered" and bool(params.get(self.reads))


class Operations:
    """All operations by name, in the order in which they were declared."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        """Raises: ValueError if two have the same name."""
        self._by_name: dict[str, Operation] = {}
        for operation in operations:
            if operation.name in self._by_name:
                raise ValueError(f"Two operations are named {operation.name!r}. Rename one of them.")
            self._by_name[operation.name] = operation

    def get(self, name: str) -> Operation | None:
        return self._by_name.get(name)

    def __getitem__(self, name: str) -> Operation:
        return self._by_name[name]

    def __iter__(self) -> Iterator[Operation]:
        return iter(self._by_name.values())

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._by_name)
