"""The session for a kernel's questions: one for each agent, created with the first question."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.magics.connection import ServerConnection

NEW = "new"


class KernelSessions:
    """`--session new` begins another one, which the kernel then keeps; a key applies only to that question."""

    def __init__(self) -> None:
        self._keys: dict[tuple[str, str | None], str] = {}

    def key(self, connection: ServerConnection, *, wanted: str | None, agent: str | None, title: str) -> str:
        """Raises: Refused (no such agent), ConnectionGone."""
        if wanted not in (None, NEW):
            return str(wanted)
        place = (connection.server.url, agent)
        if wanted == NEW or place not in self._keys:
            asked: dict[str, Any] = {} if agent is None else {"agentId": agent}
            self._keys[place] = connection.request("sessions.create", title=title[:200], **asked)["sessionKey"]
        return self._keys[place]

    def forget(self, key: str) -> bool:
        """Whether it was one of these; call it if the session no longer exists on the server."""
        places = [place for place, known in self._keys.items() if known == key]
        for place in places:
            del self._keys[place]
        return bool(places)

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(self._keys.values())
