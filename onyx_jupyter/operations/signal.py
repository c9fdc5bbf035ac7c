"""Something that happens and whoever wants to know of it, for two parts of which neither may hold the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Signal(Generic[T]):
    """`tell` calls those that hear it, in their order, at once."""

    def __init__(self) -> None:
        self._hearers: list[Callable[[T], None]] = []

    def hear(self, hearer: Callable[[T], None]) -> None:
        self._hearers.append(hearer)

    def tell(self, what: T) -> None:
        for hearer in self._hearers:
            hearer(what)
