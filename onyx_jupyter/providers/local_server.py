"""One local model's process: started on first use, stopped when idle, restarted after a crash.

It talks to the process through a pipe (to start it) and HTTP on loopback with its own key; the caller decides what to
ask the model.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import logging
import os
import secrets
import subprocess
import sys
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import ModelError, StorageError
from onyx_jupyter.providers.local_prefill import LocalPrefill
from onyx_jupyter.providers.local_saved_prompt import SavedPrompt
from onyx_jupyter.providers.local_server_process import FAILED, READY
from onyx_jupyter.providers.local_weights import Weights

if TYPE_CHECKING:
    import httpx

log = logging.getLogger(__name__)
_START_TIMEOUT_S = 120.0
_STOP_TIMEOUT_S = 3.0
_EXIT_TIMEOUT_S = 1.0
_RESTORE_TIMEOUT_S = 5.0
_SAVE_TIMEOUT_S = 5.0
_MODULE = "onyx_jupyter.providers.local_server_process"
_MAX_THREADS = 8
# Memory for what was read of other conversations: some 2,900 tokens of a model of 1.5 billion parameters.
_KEPT_PROMPTS_MIB = 80
# The longest of the last prompts is saved: it also holds the tables and cells that the next question begins with.
_LAST_PROMPTS = 4


class LocalServer:
    """The process of one model file. All of its methods belong to one event loop."""

    def __init__(self, weights: Weights, *, threads: int | None, clock: Clock, saved_in: Path | None = None) -> None:
        """`saved_in` is the folder where the process keeps what it has read for its next start."""
        self._weights = weights
        self._threads = threads or min(_available_cores(), _MAX_THREADS)
        self._clock = clock
        self._starting = asyncio.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._client: httpx.AsyncClient | None = None
        self._users = 0
        self._last_used = clock.monotonic()
        self._saved = SavedPrompt(saved_in, weights, clock) if saved_in else None
        self._prefill = LocalPrefill()
        self._prompts: deque[tuple[int, dict[str, Any]]] = deque(maxlen=_LAST_PROMPTS)

    @property
    def running(self) -> bool:
        return self._process is not None and self._client is not None and self._process.poll() is None

    @property
    def is_used(self) -> bool:
        """Whether anybody is waiting for it, or for its start."""
        return self._users > 0

    @property
    def pid(self) -> int | None:
        """The process id, while it runs."""
        return self._process.pid if self._process is not None and self.running else None

    @property
    def client(self) -> httpx.AsyncClient:
        """An HTTP client with the address and key set. Raises: ModelError if the process is not running."""
        if self._client is None or not self.running:
            raise self.crashed()
        return self._client

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Inside this context the process is not idle, and no prompt is read ahead."""
        self._users += 1
        self._prefill.interrupt_prefill()
        try:
            yield
        finally:
            self._users -= 1
            self._last_used = self._clock.monotonic()

    def has_read(self, body: dict[str, Any], tokens: int) -> None:
        """Records that the process has read a prompt of that length."""
        self._prompts.append((tokens, body))

    async def prefill(self, body: dict[str, Any]) -> None:
        """Reads a prompt ahead unless the process is busy, starting it if needed. Raises: ModelError (unavailable)."""
        if not self.running:
            await self._prefill.start(self._started())
        if not self.is_used:
            await self._prefill.read(json.dumps(body["messages"]), self._read(body))

    async def _started(self) -> None:
        self._users += 1  # keeps its file from being removed
        try:
            async with aclosing(self.start()) as lines:
                async for _ in lines:
                    pass
        finally:
            self._users -= 1

    async def _read(self, body: dict[str, Any]) -> bool:
        """Whether the prompt was read completely. This counts as use, so that the process does not end meanwhile."""
        import httpx

        self._last_used = self._clock.monotonic()
        try:
            answer = await self.client.post("/v1/chat/completions", json=body)
        except (httpx.HTTPError, ModelError):
            return False
        finally:
            self._last_used = self._clock.monotonic()
        if answer.status_code == 200:
            self.has_read(body, answer.json()["usage"]["prompt_tokens"])
        return answer.status_code == 200

    async def start(self) -> AsyncGenerator[str, None]:
        """Lines to show while it starts; none if it is running already. Raises: ModelError (unavailable)."""
        if self.running:
            return
        yield "Starting the local model…"
        async with self._starting:
            if self.pid is not None:
                return
            await self._stop_process()
            await asyncio.to_thread(importlib.import_module, "httpx")
            key = secrets.token_urlsafe(24)
            if self._saved is not None:
                await _best_effort(self._saved.prepare)
            process = await asyncio.to_thread(self._spawn, key)
            try:
                yield f"Loading {self._weights.name} ({self._weights.path.stat().st_size / 1e6:.0f} MB)…"
                client = client_for(await self._address_of(process), key)
                await self._restore_prompt(client)
            except BaseException:
                await asyncio.shield(asyncio.to_thread(_end, process))
                raise
            self._process = process
            self._client = client
            self._last_used = self._clock.monotonic()

    async def stop(self) -> None:
        """Ends the process, if there is one, after saving what it has read for the next start."""
        await self._prefill.close()
        await self._save()
        await self._stop_process()

    async def _stop_process(self) -> None:
        self._prompts.clear()
        self._prefill.forget()
        process, self._process = self._process, None
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
        if process is not None:
            await asyncio.to_thread(_end, process)

    async def stop_if_idle(self, idle_timeout_s: float) -> bool:
        """Ends the process if it has been unused for that long; returns whether it did."""
        if not (self._is_idle(idle_timeout_s) and self.running):
            return False
        await self._save()
        if not self._is_idle(idle_timeout_s):  # a request came meanwhile
            return False
        await self._stop_process()
        return True

    def _is_idle(self, idle_timeout_s: float) -> bool:
        return self._users == 0 and self._clock.monotonic() - self._last_used >= idle_timeout_s

    async def _restore_prompt(self, client: httpx.AsyncClient) -> None:
        """Loads what the last process saved; reading it again would take a thousand times as long."""
        if self._saved is None or not self._saved.is_ready:
            return
        name = await asyncio.to_thread(self._saved.take)
        if name is None:
            return
        try:
            await _asked(client, "/slots/0?action=restore", {"filename": name}, _RESTORE_TIMEOUT_S)
        finally:
            await asyncio.to_thread(self._saved.drop)

    async def _save(self) -> None:
        saved, client = self._saved, self._client
        if saved is None or not saved.is_ready or client is None or not self.running:
            return
        if not self._prompts or self.is_used:
            return
        longest = max(self._prompts, key=lambda one: one[0])
        if longest is not self._prompts[-1]:
            # Restores it from the process's memory; if it was dropped there, it is not worth reading again.
            body = longest[1] | {"stream": False, "max_tokens": 1}
            if not await _asked(client, "/v1/chat/completions", body, _SAVE_TIMEOUT_S):
                return
        if await _asked(client, "/slots/0?action=save", {"filename": saved.part_name}, _SAVE_TIMEOUT_S):
            await _best_effort(saved.keep)

    async def connection_error(self) -> ModelError:
        """The error for a broken connection; waits for a dying process, to report how it ended."""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(self._process.wait, _EXIT_TIMEOUT_S)
        return self.crashed()

    def crashed(self) -> ModelError:
        """The error for a process that is gone."""
        code = self._process.poll() if self._process is not None else None
        how = f" (signal {-code})" if code is not None and code < 0 else f" (code {code})" if code else ""
        return ModelError(
            "unavailable",
            f"The process of the local model ended unexpectedly{how}.",
            hint="Ask again to restart it. If it keeps happening, the machine may be short of memory.",
        )

    def _spawn(self, key: str) -> subprocess.Popen[str]:
        # -P: a file in the working directory must not be taken for a module. A separate session: Ctrl-C in Jupyter's
        # terminal is for Jupyter, whose end closes the pipe.
        process = subprocess.Popen(  # nosec B603 # this interpreter, a module of ours
            [sys.executable, "-P", "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        options = {
            "path": str(self._weights.path),
            "name": self._weights.name,
            "context_tokens": self._weights.context_tokens,
            "threads": self._threads,
            "kept_prompts_mib": _KEPT_PROMPTS_MIB,
            "api_key": key,
            "parent": os.getpid(),
            "saved_in": str(self._saved.folder) if self._saved and self._saved.is_ready else "",
        }
        assert process.stdin is not None
        # A process that has died already is noticed because it prints nothing.
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(options) + "\n")
            process.stdin.flush()
        return process

    async def _address_of(self, process: subprocess.Popen[str]) -> str:
        assert process.stdout is not None
        try:
            async with asyncio.timeout(_START_TIMEOUT_S):
                while line := await asyncio.to_thread(process.stdout.readline):
                    if line.startswith(READY):
                        return line.removeprefix(READY).strip()
                    if line.startswith(FAILED):
                        raise self._cannot_load(line.removeprefix(FAILED).strip())
        except TimeoutError:
            raise self._cannot_load(f"it took longer than {_START_TIMEOUT_S:.0f} s") from None
        raise self._cannot_load("its process ended")

    def _cannot_load(self, reason: str) -> ModelError:
        return ModelError(
            "unavailable",
            f"The model {self._weights.path.name} could not be loaded: {reason}.",
            hint="Check that the file is a complete GGUF model and that there is enough memory.",
        )


def client_for(address: str, key: str) -> httpx.AsyncClient:
    """An HTTP client for the process that listens there."""
    import httpx

    # Loopback: no proxy from the environment may see it, and there is no certificate to check.
    return httpx.AsyncClient(
        base_url=address,
        headers={"authorization": f"Bearer {key}"},
        timeout=httpx.Timeout(10.0, read=None),
        # The process may drop an idle connection just when the next request is using it.
        limits=httpx.Limits(max_keepalive_connections=0),
        trust_env=False,
        verify=False,  # nosec B501
    )


async def _asked(client: httpx.AsyncClient, path: str, body: dict[str, Any], timeout_s: float) -> bool:
    """Whether the process did it in time; a failure only costs time later."""
    import httpx

    try:
        return (await client.post(path, json=body, timeout=timeout_s)).status_code == 200
    except httpx.HTTPError:
        return False


async def _best_effort(work: Callable[[], None]) -> None:
    try:
        await asyncio.to_thread(work)
    except StorageError as error:
        log.warning("Prompt states of local models are not saved to disk: %s", error)


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
