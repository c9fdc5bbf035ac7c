"""Runs code in a kernel of this server and collects its outputs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from queue import Empty
from typing import Any

from jupyter_core.utils import ensure_async

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.kernel_client import new_client
from onyx_jupyter.notebook.output_collector import OutputCollector
from onyx_jupyter.protocols import CellRun

_POLL_S = 0.25
_START_S = 60.0
_MAX_INTERRUPTS = 10
_INTERRUPT_RETRY_S = 1.0
_AFTER_INTERRUPT_S = 0.5
_REPLY_S = 5.0
_PROGRESS_EVERY_S = 1.0
_ELAPSED_EVERY_S = 5.0
_LINE_CHARS = 100
_NO_INPUT = (
    "The code asked for input, which nobody can type here. Put the value in the code, or let the user run the cell in "
    "JupyterLab."
)

# Keeps the tasks from being garbage-collected before they finish: the event loop alone doesn't.
_late_interrupts: set[asyncio.Task[None]] = set()


class KernelRun:
    """One execution. `outputs` holds what arrived so far, even if `run` was cancelled; `has_begun`: the code was sent.

    Without `store_history` it leaves no trace in `In` and doesn't increase the execution count.
    """

    def __init__(
        self,
        kernel_manager: Any,
        kernel_id: str,
        progress: Callable[[str], None],
        *,
        store_history: bool = True,
        elapsed_every_s: float = _ELAPSED_EVERY_S,
    ) -> None:
        self.has_begun = False
        self._kernels = kernel_manager
        self._kernel_id = kernel_id
        self._kernel = kernel_manager.get_kernel(kernel_id)
        self._process = self._process_id()
        self._progress = progress
        self._store_history = store_history
        self._elapsed_every_s = elapsed_every_s
        self._last_reported_at = self._started_at = asyncio.get_running_loop().time()
        self._last_reported = ""
        self._collector = OutputCollector()
        self._execution_count: int | None = None
        self._is_running = False

    @property
    def outputs(self) -> tuple[dict[str, Any], ...]:
        return self._collector.outputs()

    @property
    def execution_count(self) -> int | None:
        return self._execution_count

    async def run(self, code: str, check: Callable[[], Awaitable[None]] | None = None) -> CellRun:
        """Waits until the kernel is idle again; cancelling interrupts it.

        `check` is called once the kernel is free; if it raises, the code is not sent.
        Raises: NotebookError (kernel_died, no_kernel).
        """
        client = new_client(self._kernel)
        client.start_channels(hb=False)  # the server knows whether the kernel lives; stopped early, a heartbeat spins
        is_left = False
        try:
            await self._wait_for_turn(client)
            if check is not None:
                await check()
            self.has_begun = True
            # This is a single request: aborting on an error would only discard other clients' queued requests.
            message_id = client.execute(code, store_history=self._store_history, allow_stdin=False, stop_on_error=False)
            try:
                await self._collect(client, message_id)
            except asyncio.CancelledError:
                is_left = not await self._interrupt(client, message_id)
                if is_left:
                    self._interrupt_later(client, message_id)
                raise
            reply = await self._reply(client, message_id)
        finally:
            if not is_left:
                client.stop_channels()
        outputs = self.outputs
        if reply.get("execution_count") is not None:
            self._execution_count = reply["execution_count"]
        failed = any(output["output_type"] == "error" for output in outputs)
        status = reply.get("status", "error" if failed else "ok")
        note = _NO_INPUT if any(output.get("ename") == "StdinNotImplementedError" for output in outputs) else None
        return CellRun(status if status in ("ok", "error") else "aborted", self._execution_count, outputs, note)

    async def _wait_for_turn(self, client: Any) -> None:
        """Waits until the kernel answers and its output channel is connected.

        An answer means that nothing else runs in it, so a cancelled wait doesn't interrupt anyone's code.
        """
        heard = answered = False
        request = ""
        while not (heard and answered):
            if not request or answered:  # answered before the output channel was connected: ask again
                request, answered = client.kernel_info(), False
            with contextlib.suppress(Empty):
                reply = await ensure_async(client.get_shell_msg(timeout=_POLL_S))
                answered = reply["parent_header"].get("msg_id") == request
            with contextlib.suppress(Empty):
                while not heard:
                    message = await ensure_async(client.get_iopub_msg(timeout=_POLL_S))
                    heard = message["parent_header"].get("msg_id") == request
            await self._check_alive()
            if self._elapsed_s() > _START_S and not await self._is_busy():
                raise NotebookError("no_kernel", f"The kernel has not answered for {_START_S:g} s.")
            self._report_progress("Waiting for the kernel")

    async def _collect(self, client: Any, message_id: str, *, until: str = "idle") -> None:
        """Collects outputs until the kernel reports that state for our code."""
        while True:
            try:
                message = await ensure_async(client.get_iopub_msg(timeout=_POLL_S))
            except Empty:
                await self._check_alive()
                self._report_progress(self._collector.last_line)
                continue
            if message["parent_header"].get("msg_id") != message_id:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status":
                self._is_running = True
                if content["execution_state"] == until:
                    return
            if kind == "execute_input":
                self._execution_count = content.get("execution_count")
            self._collector.add(kind, content)
            self._report_progress(self._collector.last_line)

    async def _reply(self, client: Any, message_id: str) -> dict[str, Any]:
        deadline = asyncio.get_running_loop().time() + _REPLY_S
        while asyncio.get_running_loop().time() < deadline:
            with contextlib.suppress(Empty):
                reply = await ensure_async(client.get_shell_msg(timeout=_POLL_S))
                if reply["parent_header"].get("msg_id") == message_id:
                    content: dict[str, Any] = reply["content"]
                    return content
            await self._check_alive()
        return {}

    async def _interrupt(self, client: Any, message_id: str) -> bool:
        """Interrupts only our code; False if other code got in first, so that ours waits behind it."""
        with contextlib.suppress(NotebookError, TimeoutError, RuntimeError):
            if not self._is_running:
                try:
                    await asyncio.wait_for(self._collect(client, message_id, until="busy"), _AFTER_INTERRUPT_S)
                except TimeoutError:
                    return False
            await asyncio.wait_for(ensure_async(self._kernel.interrupt_kernel()), _AFTER_INTERRUPT_S)
            await asyncio.wait_for(self._collect(client, message_id), _AFTER_INTERRUPT_S)
        return True

    def _interrupt_later(self, client: Any, message_id: str) -> None:
        """A queued request cannot be withdrawn: interrupts it when it begins, without blocking the caller."""

        async def interrupt() -> None:
            try:
                with contextlib.suppress(NotebookError, RuntimeError):
                    await self._collect(client, message_id, until="busy")
                    # A kernel reports busy just before it accepts interrupts: one that arrives in between is lost.
                    for _ in range(_MAX_INTERRUPTS):
                        await ensure_async(self._kernel.interrupt_kernel())
                        with contextlib.suppress(TimeoutError):
                            async with asyncio.timeout(_INTERRUPT_RETRY_S):
                                await self._collect(client, message_id)
                            return
            finally:
                client.stop_channels()

        self._progress = lambda line: None
        task = asyncio.create_task(interrupt(), name="onyx late interrupt")
        _late_interrupts.add(task)
        task.add_done_callback(_late_interrupts.discard)

    async def _check_alive(self) -> None:
        """The server often restarts a dead kernel at once: then its process is a different one."""
        known = self._kernel_id in self._kernels
        if not known or self._process_id() != self._process or not await ensure_async(self._kernel.is_alive()):
            raise NotebookError(
                "kernel_died",
                "The kernel died or was restarted while the cell ran, so its variables are lost. Its output up to "
                "then is kept.",
            )

    async def _is_busy(self) -> bool:
        return getattr(self._kernel, "execution_state", None) == "busy"

    def _process_id(self) -> object:
        return getattr(getattr(self._kernel, "provisioner", None), "pid", None)

    def _elapsed_s(self) -> float:
        return asyncio.get_running_loop().time() - self._started_at

    def _report_progress(self, line: str) -> None:
        """Reports the newest line at most every second; if there is none, the elapsed time."""
        now = asyncio.get_running_loop().time()
        if line and line != self._last_reported and now - self._last_reported_at >= _PROGRESS_EVERY_S:
            self._last_reported, self._last_reported_at = line, now
            self._progress(line[:_LINE_CHARS])
        elif now - self._last_reported_at >= self._elapsed_every_s:
            self._last_reported_at = now
            self._progress(f"Running for {self._elapsed_s():.0f} s")
