"""Loads what an answer will need while its person still writes: a sidebar that is merely open costs next to nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from onyx_jupyter.errors import OnyxError
from onyx_jupyter.ingest.knowledge import DocumentKnowledge
from onyx_jupyter.protocols import Models
from onyx_jupyter.runtime.memories import Memories
from onyx_jupyter.runtime.session_search import SessionSearch

log = logging.getLogger(__name__)


class WarmUp:
    """`begin` is called whenever a person begins to write: what has gone since, for want of use, comes back.

    `follow` is for a message that nobody was seen writing: the first seconds belong to its answer.
    """

    def __init__(
        self,
        models: Callable[[], Models],
        memories: Memories,
        documents: DocumentKnowledge | None,
        session_search: SessionSearch,
    ) -> None:
        self._models = models
        self._memories = memories
        self._documents = documents
        self._session_search = session_search
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Returns at once."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._load(), name="onyx warm-up")

    def follow(self) -> None:
        """Has the index follow what there is to be found, in the background and not at once."""
        self._memories.start()
        self._session_search.start()
        if self._documents is not None:
            self._documents.look()

    async def close(self) -> None:
        """Ends it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _load(self) -> None:
        for part in (self._models().warm, self._memory):  # memory second: an answer does not wait for its index
            try:
                await part()
            except OnyxError as error:
                log.warning("Not all that an answer needs could be loaded: %s", error)
            except Exception:
                log.exception("What an answer needs could not be loaded")

    async def _memory(self) -> None:
        self._memories.start(at_once=True)
        self.follow()
        await self._memories.load()
