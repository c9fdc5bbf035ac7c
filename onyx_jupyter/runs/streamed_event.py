"""An event as it goes to whoever listens: numbered, without secrets, and encoded once by each adapter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from onyx_jupyter.events import RunEvent, event_data

Encode = Callable[[str, Mapping[str, Any]], str]
"""An adapter's form of an event, from its name and data."""


@dataclass(slots=True, eq=False)
class StreamedEvent:
    """One event as it is told: numbered within its session, and without secrets.

    `event` and `seq` are None for what belongs to no session. Of pieces of text, which come without secrets and are the
    most there is, the data is made when it is asked for.
    """

    name: str
    event: RunEvent | None
    seq: int | None
    _data: dict[str, Any] | None
    _texts: dict[Encode, str] | None = field(default_factory=dict)

    @property
    def data(self) -> dict[str, Any]:
        """JSON-ready, camelCase, with `seq` and, but for pieces of text, `sessionKey`."""
        if self._data is not None:
            return self._data
        assert self.event is not None, "what belongs to no session comes with its data"
        return {**event_data(self.event), "seq": self.seq}

    def encoded(self, encode: Encode) -> str:
        """The event in that form; made once while it is told."""
        if self._texts is None:
            return encode(self.name, self.data)
        if encode not in self._texts:
            self._texts[encode] = encode(self.name, self.data)
        return self._texts[encode]

    def has_been_told(self) -> None:
        """Who comes later encodes it anew: what is kept for them is not kept twice."""
        self._texts = None
