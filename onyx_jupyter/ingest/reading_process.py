"""Has documents read in a process apart, within a time for each. It opens no file and never waits in the event loop."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.errors import DocumentUnreadable
from onyx_jupyter.protocols.retrieval import Chunk

log = logging.getLogger(__name__)
_CHILD = "onyx_jupyter.ingest.reading_child"
# What Python needs to start; keys of providers stay with the server.
_VARIABLES = ("PATH", "PYTHONPATH", "PYTHONHOME", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT", "WINDIR")
_BASE_S, _A_MEGABYTE_S = 60.0, 5.0


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """What a document gave: its passages, the text that their lines are of, and what could not be read of it."""

    chunks: list[Chunk]
    text: str
    title: str
    note: str | None


def limit_s(size_bytes: int) -> float:
    """How long a document of that size may take to be read: enough for thousands of pages."""
    return _BASE_S + _A_MEGABYTE_S * size_bytes / 1_000_000


class ReadingProcess:
    """Started with the first document, and anew after one that ended it; `read` and `close` block, `kill` does not."""

    def __init__(self, limit_s: Callable[[int], float] = limit_s) -> None:
        self._limit_s = limit_s
        self._process: subprocess.Popen[bytes] | None = None
        self._starting = threading.Lock()
        self._is_over = False

    def read(self, name: str, title: str, data: bytes) -> ReadDocument:
        """One at a time. Raises: DocumentUnreadable, also where it takes too long or too much; OSError."""
        process = self._started()
        limit_s = self._limit_s(len(data))
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(limit_s, end)
        timer.start()
        try:
            answer = _asked(process, {"name": name, "title": title, "bytes": len(data), "limitS": limit_s}, data)
        finally:
            timer.cancel()
            timer.join()
        if answer is None:
            self._reap()
            raise DocumentUnreadable(_late(limit_s) if late.is_set() else _ENDED)
        return _document(answer)

    def kill(self) -> None:
        """Ends it for good; whoever waits for it in another thread waits no longer."""
        with self._starting:
            self._is_over = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """After this nothing of it is left."""
        self.kill()
        self._reap()

    def _started(self) -> subprocess.Popen[bytes]:
        with self._starting:
            if self._is_over:
                raise OSError("The reading was ended.")
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-m", _CHILD],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={name: os.environ[name] for name in _VARIABLES if name in os.environ},
                    start_new_session=True,
                )
            return self._process

    def _reap(self) -> None:
        with self._starting:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):  # what was not yet sent has nobody to go to
                    if pipe is not None:
                        pipe.close()


_ENDED = (
    "It could not be read: it took more memory than a document may, or broke the program that reads it. "
    "Open it in its own program, and save it anew or in parts."
)


def _late(limit_s: float) -> str:
    return (
        f"It takes longer than {limit_s:.0f} seconds to read, so it was left out. "
        "Open it in its own program, and save it anew or in parts."
    )


def _asked(process: subprocess.Popen[bytes], header: Mapping[str, Any], data: bytes) -> dict[str, Any] | None:
    """The answer; None where the process has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(header).encode() + b"\n")
        process.stdin.write(data)
        process.stdin.flush()
        line = process.stdout.readline()
    except (ConnectionError, ValueError):  # it has ended, and by now its pipes may be closed
        return None
    return json.loads(line.decode("utf-8", "surrogatepass")) if line.endswith(b"\n") else None


def _document(answer: Mapping[str, Any]) -> ReadDocument:
    if "problem" in answer:
        raise DocumentUnreadable(str(answer["problem"]))
    if "failed" in answer:
        log.error("A document could not be cut: %s", answer["failed"])
        raise DocumentUnreadable("It could not be read: something in Onyx went wrong. The server's log says what.")
    chunks = [
        Chunk(text, start_line, end_line, heading, context, before, (parent[0], parent[1]) if parent else None)
        for text, start_line, end_line, heading, context, before, parent in answer["chunks"]
    ]
    return ReadDocument(chunks, answer["text"], answer["title"], answer["note"])
