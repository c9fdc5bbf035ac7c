"""The process that runs one skill notebook: in its own kernel, cell by cell, saving the executed copy as it goes.

It is a separate process, so that a notebook's outputs and the libraries that run it never burden the server. The first
line of input is the job; each line of output reports progress. The line `stop`, or the end of the input (the server is
gone), ends it and its kernel.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, TextIO

from onyx_jupyter.clock import SystemClock, timestamp
from onyx_jupyter.errors import StorageError
from onyx_jupyter.features.skills.notebook_runner import CellFailed, SkillNotebook
from onyx_jupyter.storage.atomic_write import write_text_atomically

REPORT_EVERY_S = 0.25
SAVE_EVERY_S = 2.0
STOPPED, INTERRUPTED = "stopped", "interrupted"


class SkillProcess:
    """One job, as the server sent it in the first line."""

    def __init__(self, job: dict[str, Any], output: TextIO) -> None:
        self._job = job
        self._output = output
        self._run: dict[str, Any] = dict(job["run"])
        self._stop: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._notebook = SkillNotebook(job, self._report)
        self._saved = ""

    def stop(self, why: str) -> None:
        """Requests a stop; the first reason counts."""
        if not self._stop.done():
            self._stop.set_result(why)

    async def run(self) -> None:
        """Runs the job; its last message reports how it ended."""
        saving = asyncio.create_task(self._autosave_loop())
        telling = asyncio.create_task(self._report_loop())
        working = asyncio.create_task(self._notebook.run(self._facts))
        try:
            waits: list[asyncio.Future[Any]] = [working, self._stop]
            await asyncio.wait(waits, timeout=self._job["timeoutS"], return_when=asyncio.FIRST_COMPLETED)
            status, error = self._ending(working)
        finally:
            saving.cancel()
            telling.cancel()
        self._run |= {"status": status, "finishedAt": timestamp(SystemClock().now())}
        if error:
            self._run["error"] = error
        try:
            self._save()
        except StorageError as problem:
            self._run["error"] = " ".join(filter(None, [self._run.get("error"), str(problem)]))
        self._report({"finished": self._run})
        self._notebook.kill()
        working.cancel()
        with contextlib.suppress(BaseException):
            await asyncio.wait([working], timeout=1)

    def _ending(self, working: asyncio.Task[None]) -> tuple[str, str | None]:
        if self._stop.done():
            return self._stop.result(), None
        if not working.done():
            return "timeout", f"It was still running after {self._job['timeoutS']:g} s, so it was stopped."
        error = working.exception()
        if error is None:
            return "ok", None
        return "failed", str(error) if isinstance(error, CellFailed) else f"{type(error).__name__}: {error}"

    def _facts(self, facts: dict[str, Any]) -> None:
        """Adds facts that become known only during the run."""
        self._run |= facts

    async def _report_loop(self) -> None:
        while True:
            await asyncio.sleep(REPORT_EVERY_S)
            self._notebook.report_output()

    async def _autosave_loop(self) -> None:
        while True:
            with contextlib.suppress(StorageError):  # reported at the end if the disk still fails
                self._save()
            await asyncio.sleep(SAVE_EVERY_S)

    def _save(self) -> None:
        """Saves the current copy if it differs from the one on disk."""
        text = self._notebook.text({**self._run})
        if text != self._saved:
            write_text_atomically(Path(self._job["copy"]), text)
            self._saved = text

    def _report(self, what: dict[str, Any]) -> None:
        if "cell" in what and "output" not in what:
            with contextlib.suppress(StorageError):
                self._save()
        with contextlib.suppress(OSError, ValueError):  # the server is gone
            self._output.write(json.dumps(what) + "\n")
            self._output.flush()


async def main(job: dict[str, Any], output: TextIO) -> None:
    """Runs the job and watches for `stop` or the end of the server."""
    process = SkillProcess(job, output)
    loop = asyncio.get_running_loop()

    def listen() -> None:
        said = sys.stdin.readline()
        with contextlib.suppress(RuntimeError):  # already ended by itself
            loop.call_soon_threadsafe(process.stop, STOPPED if said.strip() == "stop" else INTERRUPTED)

    threading.Thread(target=listen, daemon=True).start()
    with contextlib.suppress(NotImplementedError):
        loop.add_signal_handler(signal.SIGTERM, process.stop, INTERRUPTED)
    await process.run()


if __name__ == "__main__":
    # Output that a kernel writes directly to stdout must not mix with the lines that the server reads.
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    asyncio.run(main(json.loads(sys.stdin.readline()), channel))
    channel.flush()
    os._exit(0)  # do not wait for libraries: the kernel has ended, and the copy is written
