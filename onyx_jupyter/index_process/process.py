"""Runs the index and the embedded embedder in a process of their own, started when needed and ended when idle.

LanceDB and ONNX take some hundred megabytes that a process returns only when it ends. Files are the source of truth and
the index can be rebuilt, so this process may end at any moment: open requests then go to the next one.
"""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import IndexUnavailable, OnyxError
from onyx_jupyter.index_process.link import Link, LinkEnded
from onyx_jupyter.ingest.reader_process import needed_environment
from onyx_jupyter.protocols.retrieval import EmbedderIdentity, Embeddings

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors

log = logging.getLogger(__name__)
_CHILD = "onyx_jupyter.index_process.child"
_ENDED = "The search process stopped; it is being restarted."
# Time for the process to close what it has open; then it is killed.
_END_S = 3.0
_MIN_IDLE_POLL_S = 0.5
# With several heaps, each would keep the memory that its threads have freed.
_LOW_MEMORY_ENV = {"MALLOC_ARENA_MAX": "2", "MALLOC_TRIM_THRESHOLD_": "131072", "ARROW_DEFAULT_MEMORY_POOL": "system"}


class IndexProcess:
    """At most one process at a time; `idle_s` says how long it may stay unused."""

    def __init__(self, folder: Path, clock: Clock, idle_s: Callable[[], float]) -> None:
        """`folder` holds the index. Nothing is started."""
        self._folder = folder
        self._clock = clock
        self._idle_s = idle_s
        self._embeddings: Embeddings | None = None
        self._on_emptied: dict[str, Callable[[str], None]] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._link: Link | None = None
        self._starting = asyncio.Lock()
        self._users = 0
        self._used_at_s = clock.monotonic()
        self._watching: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._is_closed = False

    def answer_with(self, embeddings: Embeddings) -> None:
        """Sets the embeddings from which the process builds its index."""
        self._embeddings = embeddings

    def on_emptied(self, collection: str, callback: Callable[[str], None]) -> None:
        """`callback` is called with the reason when that collection was lost and has to be filled again."""
        self._on_emptied[collection] = callback

    @property
    def is_running(self) -> bool:
        return self._link is not None and not self._link.has_ended

    @property
    def process_id(self) -> int | None:
        """The id of the running process."""
        return self._process.pid if self._process is not None and self.is_running else None

    async def ask(
        self,
        name: str,
        *arguments: Any,
        error: type[OnyxError] = IndexUnavailable,
        again: bool = True,
        counts: bool = True,
    ) -> Any:
        """Returns the answer of the process, which is started if it is not running.

        `again`: if it ends meanwhile, a new one gets the same request. `counts`: as use, which keeps it from ending.
        Raises: IndexUnavailable, EmbeddingError; `error` if the process cannot be asked.
        """
        self._users += 1
        try:
            try:
                return await (await self._started(error)).call(name, *arguments)
            except LinkEnded:
                if not again:
                    raise error(_ENDED) from None
            try:
                return await (await self._started(error)).call(name, *arguments)
            except LinkEnded:
                raise error("The search process keeps stopping. See the server log for details.") from None
        finally:
            self._users -= 1
            if counts:
                self._used_at_s = self._clock.monotonic()

    async def load(self) -> None:
        """Starts the process and loads its libraries. Raises: IndexUnavailable."""
        await self.ask("load")

    async def close(self) -> None:
        """Ends the process; no new one is started afterwards."""
        self._is_closed = True
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        async with self._starting:
            self._end()
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _started(self, error: type[OnyxError]) -> Link:
        async with self._starting:
            if self._is_closed:
                raise error("The server is shutting down.")
            if self._link is not None and not self._link.has_ended:
                return self._link
            self._end()  # a process that exited by itself still has to be waited for
            try:
                process = self._process = await self._begun()
            except OSError as failure:
                raise error(f"The search process could not be started: {failure}.") from failure
            assert process.stdin is not None
            assert process.stdout is not None
            self._link = Link(process.stdout, process.stdin, self._answers())
            self._used_at_s = self._clock.monotonic()
            if self._watching is None or self._watching.done():
                self._watching = asyncio.create_task(self._until_idle(), name="onyx idle index process")
            return self._link

    async def _begun(self) -> subprocess.Popen[bytes]:
        """Starts a new process; if cancelled, it is ended as soon as it has started. Raises: OSError."""
        spawning = asyncio.create_task(asyncio.to_thread(self._spawn), name="onyx index process, start")
        try:
            return await asyncio.shield(spawning)
        except asyncio.CancelledError:
            self._in_background(_unwanted(spawning))
            raise

    def _spawn(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # nosec B603 # this interpreter, a module of ours
            [sys.executable, "-P", "-m", _CHILD, str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_LOW_MEMORY_ENV | needed_environment(),
            start_new_session=True,
        )

    async def _until_idle(self) -> None:
        while self.is_running:
            idle_s = self._idle_s()
            await asyncio.sleep(max(idle_s / 4, _MIN_IDLE_POLL_S))
            if not self._users and self._clock.monotonic() - self._used_at_s >= idle_s:
                self._end()

    def _end(self) -> None:
        """Ends the process, waiting for it in the background."""
        process, self._process, link, self._link = self._process, None, self._link, None
        if link is not None:
            link.close()
        if process is not None:
            self._in_background(asyncio.to_thread(_ended, process))

    def _in_background(self, ends: Coroutine[Any, Any, None]) -> None:
        ending = asyncio.create_task(ends, name="onyx index process, end")
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    def _answers(self) -> Mapping[str, Callable[..., Any]]:
        return {"current": self._current, "vectors": self._vectors, "emptied": self._emptied, "log": _log}

    async def _current(self) -> tuple[EmbedderIdentity | None, str | None]:
        assert self._embeddings is not None
        return await self._embeddings.current(), self._embeddings.problem

    async def _vectors(
        self, texts: Sequence[str], purpose: Literal["passage", "query"], identity: EmbedderIdentity
    ) -> Vectors:
        assert self._embeddings is not None
        self._used_at_s = self._clock.monotonic()
        return await self._embeddings.embed(texts, purpose, identity=identity)

    async def _emptied(self, collection: str, why: str) -> None:
        if (callback := self._on_emptied.get(collection)) is not None:
            callback(why)


async def _log(name: str, level: int, message: str) -> None:
    logging.getLogger(name).log(level, "%s", message)


async def _unwanted(spawning: asyncio.Task[subprocess.Popen[bytes]]) -> None:
    with suppress(OSError):
        process = await spawning
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        await asyncio.to_thread(_ended, process)


def _ended(process: subprocess.Popen[bytes]) -> None:
    """Blocks until the process is gone; the link closes the pipes."""
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
