"""Builds the features of one server, starts them in order and stops them in reverse.

A feature that fails is reported in `health`, and the rest continues without it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from pydantic import BaseModel

from onyx_jupyter.agent.processor import Processor
from onyx_jupyter.errors import FeatureUnavailable, OnyxError
from onyx_jupyter.operations.dependencies import Key, Parts
from onyx_jupyter.operations.feature import Built, Component, Feature
from onyx_jupyter.operations.keys import CONTRIBUTIONS
from onyx_jupyter.operations.operation import Operation, Operations
from onyx_jupyter.toolsets.toolset import Toolset

log = logging.getLogger(__name__)
T = TypeVar("T")
START_S = 30.0
"""How long a non-essential feature may delay those after it."""
END_OF_START_S = 3.0
SEE_LOG = "See the server log. This feature is unavailable until the server is restarted; everything else works."


class Container:
    """`given` is what comes from outside of the features; `failed` are features that could not be loaded.

    Raises: ValueError if a requirement of an essential feature is not provided, or two features provide the same.
    """

    def __init__(
        self, features: Sequence[Feature], given: Mapping[Key[Any], Any], failed: Mapping[str, str] | None = None
    ) -> None:
        self.parts = Parts({**given, CONTRIBUTIONS: self})
        self.operations = Operations(one for feature in features for one in feature.operations)
        self.events = {event.name: event for feature in features for event in feature.events}
        self.problems: dict[str, str] = dict(failed or {})
        self._feature_of = {one.name: feature.name for feature in features for one in feature.operations}
        self._features: dict[str, tuple[Feature, Built]] = {}
        self._started: set[str] = set()
        self._starting: asyncio.Task[None] | None = None
        self._closed = False
        self._declared = tuple(features)
        for feature in in_order(features, {*given, CONTRIBUTIONS}):
            self._make(feature)

    @property
    def features(self) -> Sequence[Feature]:
        """The features that could be built, in the order in which they start."""
        return [feature for feature, _ in self._features.values()]

    async def start(self) -> None:
        """Starts what is not started yet; a second call during that waits for the same start.

        Raises: OnyxError of an essential feature; another call then retries that feature and those after it.
        """
        starting = self._starting
        if starting is None or (starting.done() and (starting.cancelled() or starting.exception() is not None)):
            starting = self._starting = asyncio.create_task(self._start(), name="onyx start")
        await asyncio.shield(starting)

    async def begin_as_owner(self) -> None:
        """Begins what only one server must do, now that this server is the one."""
        for feature, built in self._features.values():
            if feature.name in self._started:
                await self._try(feature, "start its background work", built.begin_as_owner)

    async def warm(self) -> None:
        """Starts the features, and loads what the first answer will need, one feature at a time."""
        await self.start()
        for feature, built in self._in_use():
            await self._try(feature, "warm up", built.warm)  # on failure it is loaded when needed

    async def close(self) -> None:
        """Ends all work, the last feature's first. A feature that fails to end does not block the rest."""
        self._closed = True
        if self._starting is not None and (await asyncio.wait({self._starting}, timeout=END_OF_START_S))[1]:
            self._starting.cancel()
            await asyncio.wait({self._starting}, timeout=END_OF_START_S)
        async with AsyncExitStack() as ends:
            for _, built in self._features.values():
                ends.push_async_callback(built.close)

    async def health(self) -> dict[str, Component]:
        """Component → its health, including the features that failed."""
        found: dict[str, Component] = {}
        for feature, built in self._features.values():
            if feature.name not in self._started:
                continue
            try:
                found |= await built.health()
            except Exception as error:  # the others are still reported
                log.exception("The health of %s could not be checked", feature.name)
                found[feature.name] = _failed(feature.name, _reason(error))
        return found | {name: _failed(name, why) for name, why in self.problems.items()}

    def check(self, operation: Operation) -> None:
        """Raises: FeatureUnavailable if the feature that answers it has failed."""
        name = self._feature_of[operation.name]
        if name in self.problems:
            raise FeatureUnavailable(f"{operation.name} is not available: {self.problems[name]}.", hint=SEE_LOG)

    def toolsets(self) -> Sequence[Toolset]:
        """See `Contributions`, as for the methods below."""
        return [toolset for feature in self._working() for toolset in feature.toolsets]

    def prompt_sections(self) -> Sequence[str]:
        sections = (self._of(feature, feature.prompt) for feature in self._working() if feature.prompt)
        return [text for text in sections if text]

    def processors(self) -> Sequence[Processor]:
        given = [self._of(feature, feature.processors) for feature in self._working()]
        return [processor for processors in given if processors for processor in processors]

    async def prepare(self) -> None:
        for feature, built in self._in_use():
            await self._try(feature, "prepare", built.prepare)

    def catch_up(self) -> None:
        for feature, built in self._in_use():
            try:
                built.catch_up()
            except Exception:  # the message is still sent
                log.exception("%s could not update its index", feature.name)

    def settings(self) -> Mapping[str, type[BaseModel]]:
        return {feature.name: feature.settings for feature in self._declared if feature.settings}

    def _in_use(self) -> Iterator[tuple[Feature, Built]]:
        """The features that work; ends when the container is closed meanwhile."""
        for feature, built in self._features.values():
            if not self._closed and feature.name not in self.problems:
                yield feature, built

    def _of(self, feature: Feature, asked: Callable[[Parts], T]) -> T | None:
        """What a feature contributes to each run; if it raises, the feature has failed, but not the run."""
        try:
            return asked(self.parts)
        except Exception as error:
            self._fail(feature, error)
            return None

    def _working(self) -> Sequence[Feature]:
        return [feature for feature in self._declared if feature.name not in self.problems]

    def _make(self, feature: Feature) -> None:
        missing = [key for key in feature.requires if key not in self.parts]
        try:
            for key in missing:
                self.parts.get(key)
            built = feature.make(self.parts)
            if built.parts.keys() != set(feature.provides):
                names = ", ".join(sorted(key.name for key in built.parts.keys() ^ set(feature.provides)))
                raise ValueError(f"What it provides and what it declares differ in: {names}")
        except Exception as error:
            if feature.essential:
                raise ValueError(f"The feature {feature.name} could not be created: {error}") from error
            self._fail(feature, error)
            for key in feature.provides:
                self.parts.mark_unavailable(key, f"{feature.name} failed")
        else:
            self.parts.provide(built.parts)
            self._features[feature.name] = (feature, built)

    async def _start(self) -> None:
        for feature, built in self._features.values():
            if feature.name in self._started or feature.name in self.problems:
                continue
            try:
                async with asyncio.timeout(None if feature.essential else START_S):
                    await built.start()
            except Exception as error:
                if feature.essential:
                    raise
                self._fail(feature, error)
            else:
                self._started.add(feature.name)

    async def _try(self, feature: Feature, what: str, do: Callable[[], Awaitable[None]]) -> None:
        """Logs a failure, and the rest continues without it."""
        try:
            await do()
        except OnyxError as error:
            log.error("%s could not %s: %s", feature.name, what, error)
        except Exception:
            log.exception("%s could not %s", feature.name, what)

    def _fail(self, feature: Feature, error: Exception) -> None:
        if isinstance(error, OnyxError):
            log.error("The feature %s failed: %s", feature.name, error)
        else:
            log.error("The feature %s failed", feature.name, exc_info=error)
        self.problems[feature.name] = _reason(error)


def _failed(name: str, why: str) -> Component:
    return {"ok": False, "message": f"{name}: {why}.", "hint": SEE_LOG}


def _reason(error: Exception) -> str:
    return str(error).rstrip(".") or type(error).__name__


def in_order(features: Iterable[Feature], given: Iterable[Key[Any]]) -> list[Feature]:
    """The features, each after those that provide what it requires, otherwise in their given order.

    Those with missing requirements come last. Raises: ValueError if two have the same name, or provide the same.
    """
    waiting = list(features)
    provided, names = set(given), set[str]()
    for feature in waiting:
        if feature.name in names:
            raise ValueError(f"Two features are named {feature.name!r}. Rename one of them.")
        names.add(feature.name)
        for key in feature.provides:
            if key in provided:
                raise ValueError(
                    f"The feature {feature.name} provides {key.name}, which another feature already provides."
                )
            provided.add(key)
    ready, ordered = set(given), list[Feature]()

    def is_ready(feature: Feature) -> bool:
        used = provided.intersection(feature.uses)
        return ready.issuperset(feature.requires) and ready.issuperset(used)

    while found := next((one for one in waiting if is_ready(one)), None):
        waiting.remove(found)
        ordered.append(found)
        ready.update(found.provides)
    return [*ordered, *waiting]
