"""Reads documents in a separate process, with a time limit for each."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from onyx_jupyter.errors import DocumentReaderUnavailable, DocumentUnreadable
from onyx_jupyter.ingest.reader_process import ReaderProcess
from onyx_jupyter.ingest.readers import MAX_FILE_BYTES
from onyx_jupyter.protocols.retrieval import Chunk

log = logging.getLogger(__name__)
_BASE_S, _A_MEGABYTE_S = 60.0, 5.0
_START_S = 120.0  # home folders on a slow network drive load Python's files one by one


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """The result of a document: its passages, the text that their lines refer to, and what could not be read."""

    chunks: list[Chunk]
    text: str
    title: str
    note: str | None


def limit_s(size_bytes: int) -> float:
    """The time limit for a document of that size: enough for thousands of pages."""
    return _BASE_S + _A_MEGABYTE_S * size_bytes / 1_000_000


class DocumentReader:
    """Starts with the first document, and again after one that killed it; `read` and `close` block, `kill` does not."""

    def __init__(
        self,
        limit_s: Callable[[int], float] = limit_s,
        start: Callable[[], ReaderProcess] = ReaderProcess,
    ) -> None:
        self._limit_s = limit_s
        self._start = start
        self._reader: ReaderProcess | None = None
        self._starting = threading.Lock()
        self._over = threading.Event()

    def read(self, name: str, title: str, file: BinaryIO) -> ReadDocument:
        """Reads one document at a time; `file` is read from its beginning, and stays open.

        Raises: DocumentUnreadable, also if it takes too much time or memory; DocumentReaderUnavailable; OSError.
        """
        reader = self._started()
        was_fresh = reader.is_fresh
        # Larger files are only read in part.
        limit_s = self._limit_s(min(os.fstat(file.fileno()).st_size, MAX_FILE_BYTES))
        answer = reader.ask({"name": name, "title": title}, file, limit_s)
        if answer is not None and "exceeded" in answer:
            self._reap()  # its used memory would count for the next one
            if was_fresh:
                raise DocumentUnreadable(str(answer["exceeded"]))
            return self.read(name, title, file)  # in a fresh process
        if answer is not None:
            return _document(answer)
        ended = self._reap()
        if self._over.is_set():
            raise OSError(_OVER)
        if reader.is_late:
            raise DocumentUnreadable(_late(limit_s))
        log.warning("%s stopped the document reader: %s", name, ended)
        raise DocumentUnreadable(_ENDED)

    def kill(self) -> None:
        """Ends it for good; a thread that waits for it stops waiting."""
        self._over.set()
        if (reader := self._reader) is not None:
            reader.kill()

    def close(self) -> None:
        """Ends it and cleans up."""
        self.kill()
        self._reap()

    def _started(self) -> ReaderProcess:
        with self._starting:
            if self._over.is_set():
                raise OSError(_OVER)
            if self._reader is not None:
                if self._reader.is_usable:
                    return self._reader
                self._reader.end()
            try:
                reader = self._reader = self._start()
            except OSError as error:
                raise DocumentReaderUnavailable(_unavailable(str(error))) from error
            if self._over.is_set():  # by a `kill` that did not see it yet
                reader.kill()
            if reader.is_ready(_START_S):
                return reader
            self._reader = None
            ended = reader.end()
        if self._over.is_set():
            raise OSError(_OVER)
        log.error("The document reader could not be started: %s", ended)
        raise DocumentReaderUnavailable(_unavailable("it took too long" if reader.is_late else _reason(ended)))

    def _reap(self) -> str:
        with self._starting:
            reader, self._reader = self._reader, None
        return reader.end() if reader is not None else ""


_OVER = "Reading was stopped."
_ENDED = (
    "It could not be read: it needed too much memory or crashed the reader. Open it in "
    "its own program and save it again, or split it."
)


def _late(limit_s: float) -> str:
    return (
        f"It took longer than {limit_s:.0f} seconds to read, so it was skipped. "
        "Open it in its own program and save it again, or split it."
    )


def _reason(ended: str) -> str:
    """The most informative line of a process's last output."""
    lines = ended.splitlines()
    return next((line for line in reversed(lines) if "error" in line.lower()), lines[-1])


def _unavailable(why: str) -> str:
    return f"The document reader could not be started: {why.rstrip('.')}. See the server log for details."


def _document(answer: Mapping[str, Any]) -> ReadDocument:
    if "problem" in answer:
        raise DocumentUnreadable(str(answer["problem"]))
    if "refused" in answer:
        raise OSError(str(answer["refused"]))
    if "failed" in answer:
        log.error("A document could not be split into passages: %s", answer["failed"])
        raise DocumentUnreadable("It could not be read: Onyx hit an internal error. See the server log for details.")
    chunks = [
        Chunk(text, start_line, end_line, heading, context, before, (parent[0], parent[1]) if parent else None)
        for text, start_line, end_line, heading, context, before, parent in answer["chunks"]
    ]
    return ReadDocument(chunks, answer["text"], answer["title"], answer["note"])
