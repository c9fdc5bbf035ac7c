"""A notification between two parts of which neither may reference the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Signal(Generic[T]):
    """`tell` calls all hearers at once, in the order in which they were added."""

    def __init__(self) -> None:
        self._hearers: list[Callable[[T], None]] = []

    def hear(self, hearer: Callable[[T], None]) -> None:
        self._hearers.append(hearer)

    def tell(self, what: T) -> None:
        for hearer in self._hearers:
            hearer(what)
