"""Reads files into the index, one after the other, in batched commits.

A kill loses at most one commit: the checksums in the index show what is done.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import BinaryIO

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import DocumentReaderUnavailable, DocumentUnreadable, PathNotAllowed
from onyx_jupyter.ingest.document_reader import DocumentReader, limit_s
from onyx_jupyter.ingest.items import FileRecord
from onyx_jupyter.ingest.readers import READERS_VERSION, check_size, is_sampled
from onyx_jupyter.ingest.text_cache import DocumentTexts
from onyx_jupyter.protocols.retrieval import Source, TextIndex
from onyx_jupyter.security.open_beneath import NotRegular

log = logging.getLogger(__name__)
ALL_AGENTS = ""  # documents belong to the user, so every agent finds them
_COMMIT_CHUNKS = 256
_COMMIT_FILES = 64
_COMMIT_S = 2.0  # so that progress stays visible
_HASHED_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class FileToRead:
    """`name` is its name in the index; `file_name` determines its kind; `title` is its title; `open` opens it."""

    name: str
    file_name: str
    title: str
    size_bytes: int
    changed_ns: int
    open: Callable[[], AbstractContextManager[BinaryIO]]


@dataclass(frozen=True, slots=True)
class _Read:
    """One file read; without `source` there is nothing new to index."""

    record: FileRecord
    source: Source | None = None
    text: str = ""


Report = Callable[[Sequence[FileRecord]], None]


class Pipeline:
    """Reads files into an index. A file that can't be read is reported, and the rest continues."""

    def __init__(
        self,
        index: TextIndex,
        texts: DocumentTexts,
        clock: Clock,
        reading_limit_s: Callable[[int], float] = limit_s,
    ) -> None:
        self._index = index
        self._texts = texts
        self._clock = clock
        self._reading_limit_s = reading_limit_s

    async def run(self, files: Sequence[FileToRead], known: Mapping[str, FileRecord], report: Report) -> None:
        """`report` gets every file once: when it can be found, or when it is known why it can't be read.

        `known` holds the files' records of the last reading.
        Raises: IndexUnavailable, EmbeddingError, DocumentReaderUnavailable, StorageError.
        """
        process = DocumentReader(self._reading_limit_s)
        try:
            await self._run(files, known, report, process)
        finally:
            process.kill()  # first: after a cancellation, a thread still waits for it
            await asyncio.shield(asyncio.to_thread(process.close))

    async def forget(self, names: Sequence[str]) -> None:
        """Removes documents from the index. Raises: IndexUnavailable."""
        if names:
            await self._index.remove([(ALL_AGENTS, name) for name in names])
            await asyncio.to_thread(self._texts.remove, names)

    async def _run(
        self, files: Sequence[FileToRead], known: Mapping[str, FileRecord], report: Report, process: DocumentReader
    ) -> None:
        indexed = await self._index.checksums(ALL_AGENTS)
        names = {name for _, name in indexed}
        waiting: list[_Read] = []
        begun = self._clock.monotonic()
        for file in files:
            checksum = indexed.get((ALL_AGENTS, file.name), "")
            before = known.get(file.name)
            if before is not None and self._is_unchanged(file, before, checksum):
                report([before])
                continue
            read = await asyncio.to_thread(self._read, file, before, checksum, process)
            if read.source is None and not read.record.problem:
                report([read.record])
                continue
            waiting.append(read)
            chunks = sum(one.record.chunks for one in waiting)
            is_due = self._clock.monotonic() - begun >= _COMMIT_S
            if is_due or len(waiting) >= _COMMIT_FILES or chunks >= _COMMIT_CHUNKS:
                await self._commit(waiting, names, report)
                waiting, begun = [], self._clock.monotonic()
        await self._commit(waiting, names, report)

    def _is_unchanged(self, file: FileToRead, before: FileRecord, checksum: str) -> bool:
        if (before.size_bytes, before.changed_ns) != (file.size_bytes, file.changed_ns):
            return False
        return before.problem is None and before.checksum == checksum != "" and self._texts.has(file.name)

    def _read(self, file: FileToRead, before: FileRecord | None, indexed: str, process: DocumentReader) -> _Read:
        try:
            with file.open() as opened:
                check_size(file.file_name, opened)
                checksum = _checksum(file, opened)
                if before is not None and before.checksum == checksum == indexed and self._texts.has(file.name):
                    return _Read(_renewed(before, file))
                document = process.read(file.file_name, file.title, opened)
        except (DocumentUnreadable, PathNotAllowed) as error:
            return _Read(_problem(file, str(error)))
        except DocumentReaderUnavailable:  # not the document's fault
            raise
        except FileNotFoundError:
            return _Read(_problem(file, "It no longer exists, so it cannot be found. Put it back to find it again."))
        except NotRegular:
            return _Read(_problem(file, "It is a folder, a pipe or a device, not a regular file. Leave it out."))
        except OSError as error:
            return _Read(_problem(file, f"It cannot be read: {error.strerror or error}. Check its permissions."))
        except Exception:  # one file never blocks the others
            log.exception("A document could not be split into passages")
            return _Read(
                _problem(file, "It could not be read: Onyx hit an internal error. See the server log for details.")
            )
        record = FileRecord(
            name=file.name,
            checksum=checksum,
            size_bytes=file.size_bytes,
            changed_ns=file.changed_ns,
            chunks=len(document.chunks),
            title=document.title,
            note=document.note,
        )
        return _Read(record, Source("document", ALL_AGENTS, file.name, checksum, document.chunks), document.text)

    async def _commit(self, read: Sequence[_Read], indexed: Collection[str], report: Report) -> None:
        if not read:
            return
        gone = [one.record.name for one in read if one.source is None and one.record.name in indexed]
        whole = [one for one in read if one.source is not None]

        def keep_texts() -> None:
            for one in whole:
                self._texts.put(one.record.name, one.text)

        await self.forget(gone)
        await asyncio.to_thread(keep_texts)
        await self._index.put([one.source for one in whole if one.source is not None])
        report([one.record for one in read])


def _checksum(file: FileToRead, opened: BinaryIO) -> str:
    """The checksum of the content; for a table, which is read in part, of its beginning, size and time."""
    digest = hashlib.sha256(f"{READERS_VERSION} {file.file_name}\n".encode("utf-8", "replace"))
    if is_sampled(file.file_name):
        digest.update(f"{file.size_bytes} {file.changed_ns}\n".encode())
        digest.update(opened.read(_HASHED_BYTES))
    else:
        while part := opened.read(_HASHED_BYTES):
            digest.update(part)
    opened.seek(0)
    return digest.hexdigest()


def _renewed(before: FileRecord, file: FileToRead) -> FileRecord:
    return before.model_copy(update={"size_bytes": file.size_bytes, "changed_ns": file.changed_ns})


def _problem(file: FileToRead, message: str) -> FileRecord:
    return FileRecord(
        name=file.name, checksum="", size_bytes=file.size_bytes, changed_ns=file.changed_ns, problem=message
    )
