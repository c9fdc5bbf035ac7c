"""An event as sent to subscribers: numbered, without secrets, and encoded once by each adapter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from onyx_jupyter.events import RunEvent, event_data

Encode = Callable[[str, Mapping[str, Any]], str]
"""Encodes an event in an adapter's form, from its name and data."""


@dataclass(slots=True, eq=False)
class StreamedEvent:
    """One event as it is sent: numbered within its session, and without secrets.

    `event` and `seq` are None for events that belong to no session. For pieces of text, which contain no secrets and
    are the most frequent, the data is created on demand.
    """

    name: str
    event: RunEvent | None
    seq: int | None
    _data: dict[str, Any] | None
    _texts: dict[Encode, str] | None = field(default_factory=dict)

    @property
    def data(self) -> dict[str, Any]:
        """JSON-ready, camelCase, with `seq` and, except for pieces of text, `sessionKey`."""
        if self._data is not None:
            return self._data
        assert self.event is not None, "what belongs to no session comes with its data"
        return {**event_data(self.event), "seq": self.seq}

    def encoded(self, encode: Encode) -> str:
        """The event in that form; cached while it is being sent."""
        if self._texts is None:
            return encode(self.name, self.data)
        if encode not in self._texts:
            self._texts[encode] = encode(self.name, self.data)
        return self._texts[encode]

    def release_encoded(self) -> None:
        """Drops the encoded forms: for later subscribers the event is encoded again, so that it is not stored twice."""
        self._texts = None
