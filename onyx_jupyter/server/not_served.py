"""The answer of every handler if the administrator's configuration has an error: serve nobody rather than too much."""

from __future__ import annotations

from typing import Any

from tornado.web import HTTPError

from onyx_jupyter._version import __version__

HINT = (
    "Onyx does not serve anyone until an administrator corrects this in the server's configuration and restarts "
    "the server."
)


class NotServed(HTTPError):
    """503 with the reason. Health is still reported."""

    def __init__(self, problem: str) -> None:
        super().__init__(503, f"{problem} {HINT}")
        self._problem = problem

    def health(self) -> dict[str, Any]:
        """The result of `health.check`."""
        ceiling = {"ok": False, "message": self._problem, "hint": HINT}
        return {"status": "degraded", "uptime": 0.0, "version": __version__, "components": {"ceiling": ceiling}}
