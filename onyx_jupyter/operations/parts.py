"""What features give each other: values by typed keys. It makes none and starts none."""

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
    """All that has been provided."""

    def __init__(self, given: Mapping[Key[Any], Any]) -> None:
        """`given` comes from outside of all features: what the server is, and what it lends."""
        self._values: dict[Key[Any], Any] = dict(given)
        self._missing: dict[Key[Any], str] = {}

    def get(self, key: Key[T]) -> T:
        """Raises: FeatureUnavailable where its feature could not be made, or there is none."""
        if key not in self._values:
            why = self._missing.get(key, "no feature of this server provides it")
            raise FeatureUnavailable(f"{key.name} is not available: {why}.")
        return cast(T, self._values[key])

    def find(self, key: Key[T]) -> T | None:
        """The same, and None where there is none."""
        return self.get(key) if key in self else None

    def later(self, key: Key[T]) -> Callable[[], T]:
        """The same, asked for at each use: where two features need each other, one of them gets the other so."""
        return lambda: self.get(key)

    def provide(self, values: Mapping[Key[Any], Any]) -> None:
        self._values.update(values)

    def miss(self, key: Key[Any], why: str) -> None:
        """Nobody gets it, for that reason."""
        self._missing[key] = why

    def __contains__(self, key: object) -> bool:
        return key in self._values
