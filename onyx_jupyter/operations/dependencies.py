"""What features provide to each other: values by typed keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from onyx_jupyter.errors import FeatureUnavailable

T = TypeVar("T")


@dataclass(frozen=True)
class Key(Generic[T]):
    """The name of something that one feature provides and others require, and its type."""

    name: str


class Parts:
    """Everything that has been provided."""

    def __init__(self, given: Mapping[Key[Any], Any]) -> None:
        """`given` comes from outside of all features: the server and what it provides."""
        self._values: dict[Key[Any], Any] = dict(given)
        self._missing: dict[Key[Any], str] = {}

    def get(self, key: Key[T]) -> T:
        """Raises: FeatureUnavailable if its feature could not be built, or there is none."""
        if key not in self._values:
            why = self._missing.get(key, "no feature of this server provides it")
            raise FeatureUnavailable(f"{key.name} is not available: {why}.")
        return cast(T, self._values[key])

    def find(self, key: Key[T]) -> T | None:
        """Like `get`, but returns None if it is not available."""
        return self.get(key) if key in self else None

    def later(self, key: Key[T]) -> Callable[[], T]:
        """Like `get`, but looked up at each use: for one of two features that need each other."""
        return lambda: self.get(key)

    def provide(self, values: Mapping[Key[Any], Any]) -> None:
        self._values.update(values)

    def mark_unavailable(self, key: Key[Any], why: str) -> None:
        """Marks a key as unavailable, for that reason."""
        self._missing[key] = why

    def __contains__(self, key: object) -> bool:
        return key in self._values
