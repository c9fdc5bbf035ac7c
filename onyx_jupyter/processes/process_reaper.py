"""A separate process that ends commands' remaining processes if the server is killed. It never outlives both.

A killed server cannot clean up. This process is notified of each command through a pipe; when the pipe breaks, the
server is gone for whatever reason, and all commands still on the list are ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from typing import BinaryIO

from onyx_jupyter.processes.process_tree import end_process_tree

log = logging.getLogger(__name__)
IDLE_S = 60.0
_END_S = 5.0
_NO_PID = 0


class ProcessReaper:
    """The server's side. The process starts with the first command, and ends after a minute without commands."""

    def __init__(self, *, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._process: asyncio.subprocess.Process | None = None
        self._starting = asyncio.Lock()
        self._watched: dict[str, int] = {}
        self._idle: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()

    async def watch(self, marker: str, pid: int | None = None) -> None:
        """Called before a command starts, with its marker, and again once its process id is known."""
        self._watched[marker] = pid or _NO_PID
        if self._idle is not None:
            self._idle.cancel()
        async with self._starting:
            if self._process is None or self._process.returncode is not None:
                await self._start()
        self._send_order(f"+ {self._watched.get(marker, _NO_PID)} {marker}")

    def release(self, marker: str) -> None:
        """The command has ended with all that it started."""
        self._watched.pop(marker, None)
        self._send_order(f"- {_NO_PID} {marker}")
        if not self._watched and self._process is not None:
            self._idle = asyncio.get_running_loop().call_later(self._idle_s, self._stop_process)

    async def close(self) -> None:
        """Ends the process."""
        if self._idle is not None:
            self._idle.cancel()
        self._stop_process()
        await asyncio.gather(*self._ending)

    async def _start(self) -> None:
        command = [sys.executable, "-P", "-m", "onyx_jupyter.processes.process_reaper"]
        pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        try:
            self._process = await asyncio.create_subprocess_exec(
                *command, stdin=pipe, stdout=nothing, stderr=nothing, start_new_session=True
            )
        except OSError as error:
            log.warning("The process reaper could not be started, so commands run without it: %s", error)
        for marker, pid in self._watched.items():
            self._send_order(f"+ {pid} {marker}")

    def _send_order(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(line.encode() + b"\n")

    def _stop_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            task = asyncio.get_running_loop().create_task(_end(process), name="onyx reaper's end")
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), _END_S)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def watch_orders(orders: BinaryIO) -> None:
    """The process's side: keeps the list until the pipe closes, then ends the commands on it."""
    watched: dict[str, int] = {}
    for order in orders:
        sign, pid, marker = order.decode().split()
        if sign == "+":
            watched[marker] = int(pid)
        else:
            watched.pop(marker, None)
    for marker, root_pid in watched.items():
        end_process_tree(root_pid or None, marker)


if __name__ == "__main__":
    watch_orders(sys.stdin.buffer)
