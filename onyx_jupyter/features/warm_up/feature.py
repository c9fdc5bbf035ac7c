"""Loads what an answer needs while the user is still typing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from onyx_jupyter.errors import OnyxError
from onyx_jupyter.operations.contributions import Contributions
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import CONFIGURED, CONTRIBUTIONS, WARM_UP
from onyx_jupyter.protocols import Models

log = logging.getLogger(__name__)


class WarmUp:
    """`begin` is called whenever the user starts typing, and reloads what was unloaded for lack of use."""

    def __init__(self, models: Callable[[], Models], features: Contributions) -> None:
        self._models = models
        self._features = features
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Starts loading in the background and returns at once."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._load(), name="onyx warm-up")

    def follow(self) -> None:
        """For a message that arrived without typing: only catches up, so that its answer comes first."""
        self._features.catch_up()

    async def close(self) -> None:
        """Stops loading."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _load(self) -> None:
        try:
            await self._models().warm()
        except OnyxError as error:
            log.warning("Warm-up failed in part: %s", error)
        except Exception:
            log.exception("Warm-up failed")
        self._features.catch_up()
        await self._features.prepare()  # after the model: an answer does not wait for an index


def make(parts: Parts) -> Built:
    configured = parts.get(CONFIGURED)
    warm_up = WarmUp(lambda: configured.models, parts.get(CONTRIBUTIONS))
    return Built({WARM_UP: warm_up}, close=warm_up.close)


FEATURE = Feature("warm_up", make, requires=(CONFIGURED, CONTRIBUTIONS), provides=(WARM_UP,), essential=True)
