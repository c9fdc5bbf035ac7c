"""Onyx as used by a server, a test or a benchmark: its features, started and stopped together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from onyx_jupyter._version import __version__
from onyx_jupyter.app.container import Container
from onyx_jupyter.app.features import FEATURES
from onyx_jupyter.app.home_owner import HomeOwner
from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.errors import OnyxError
from onyx_jupyter.operations.dependencies import Key
from onyx_jupyter.operations.feature import Component, Feature
from onyx_jupyter.operations.host import Host
from onyx_jupyter.operations.keys import HEALTH, HOST

T = TypeVar("T")
OWNER_POLL_S = 10.0
"""How often a server that does not own its home tries to."""


class Onyx:
    """Everything behind the adapters. Building it costs nothing; `ready` prepares the home on first use."""

    def __init__(
        self,
        host: Host,
        features: Sequence[Feature] = FEATURES,
        *,
        lent: Mapping[Key[Any], Any] | None = None,
        failed: Mapping[str, str] | None = None,
    ) -> None:
        """`lent` is what this server provides besides its `host`; `failed` maps features that did not load to why."""
        self.host = host
        self._started_at = host.clock.monotonic()
        self.container = Container(features, {HOST: host, HEALTH: self.health, **(lent or {})}, failed)
        self._owner = HomeOwner(host.home.owner_lock, self.container.begin_as_owner, poll_s=OWNER_POLL_S)

    def get(self, key: Key[T]) -> T:
        """What a feature provides. Raises: FeatureUnavailable."""
        return self.container.parts.get(key)

    async def ready(self) -> None:
        """Reads the configuration, creates the home, recovers interrupted runs; once. Raises: StorageError."""
        await self.container.start()
        await self._owner.start()

    async def warm(self) -> None:
        """Loads what the first answer will need, so that it does not wait for imports."""
        await self.container.warm()

    async def close(self) -> None:
        """Ends all work; runs that wait for a person continue at the next start."""
        await self._owner.stop()
        try:
            await self.container.close()
        finally:
            await self._owner.close()  # only now may the next server begin what this one did

    async def health(self) -> dict[str, Any]:
        """The result of `health.check`."""
        found: Mapping[str, Component]
        try:
            await self.ready()
            found = await self.container.health()
        except OnyxError as error:
            found = {"storage": {"ok": False, "message": str(error)} | ({"hint": error.hint} if error.hint else {})}
        status = "ok" if all(component["ok"] for component in found.values()) else "degraded"
        uptime_s = round(self.host.clock.monotonic() - self._started_at, 3)
        health = {"status": status, "uptime": uptime_s, "version": __version__, "components": dict(found)}
        if self.host.ceiling == Ceiling():
            return health
        return health | {"ceiling": self.host.ceiling.model_dump(by_alias=True, exclude_none=True)}
