"""A notification between two parts of which neither may reference the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Signal(Generic[T]):
    """`notify` calls all hearers at once, in the order in which they were added."""

    def __init__(self) -> None:
        self._subscribers: list[Callable[[T], None]] = []

    def subscribe(self, subscriber: Callable[[T], None]) -> None:
        self._subscribers.append(subscriber)

    def notify(self, what: T) -> None:
        for subscriber in self._subscribers:
            subscriber(what)
