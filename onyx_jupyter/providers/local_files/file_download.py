"""Fetches one model file: tries source after source, resuming each time, until its hash is the publisher's.

It belongs to one event loop; reading, writing and hashing run in threads. Cancelling keeps what came, for later.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, aclosing, closing
from functools import partial
from pathlib import Path

from onyx_jupyter.errors import ModelError, StorageError
from onyx_jupyter.providers.local_files.catalogue import CatalogueModel, megabytes
from onyx_jupyter.providers.local_files.download_lock import DownloadLock
from onyx_jupyter.providers.local_files.part_file import PartFile
from onyx_jupyter.providers.local_files.source import DownloadInterrupted, FileNotAvailable, Source
from onyx_jupyter.providers.local_files.storage_folders import find_file, packages_of, part_of, size_of
from onyx_jupyter.storage.thread_executor import SerialExecutor

# For packages that are being read, and so that the disk is not full afterwards.
MARGIN_BYTES = 400_000_000
WAITS_S = (1.0, 2.0, 4.0, 8.0)
_WRITTEN_BYTES = 1024 * 1024
_WRITTEN_S = 0.25
_EARLIER = "an earlier start"

Report = Callable[[int, str | None], None]
"""Gets the number of bytes so far, and where the next ones come from (None: the existing part is being checked)."""


class DownloadPaused(ModelError):
    """No source could be reached to the end; what came is kept, and the next start goes on from there."""


class FileDownload:
    """One fetch of one file into one folder."""

    def __init__(
        self,
        model: CatalogueModel,
        folder: Path,
        sources: Sequence[Source],
        report: Report,
        *,
        waits_s: Sequence[float] = WAITS_S,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`waits_s` are the waits before a source that broke off is asked again."""
        self._model = model
        self._folder = folder
        self._sources = sources
        self._report = report
        self._waits_s = waits_s
        self._sleep = sleep
        self._lock = DownloadLock(folder, model.file_name)
        self._disk = SerialExecutor("onyx model file")
        self._writers: set[str] = set()
        self._problems: dict[str, str] = {}

    async def run(self) -> Path:
        """The file, checked. Raises: DownloadedElsewhere, DownloadPaused, ModelError (unavailable), StorageError."""
        held = ExitStack()
        try:
            await self._disk.run(lambda: held.enter_context(self._lock.held()))
            if (there := find_file(self._model, [self._folder])) is not None:
                return there  # another process was quicker
            await self._disk.run(self._check_room)
            part = await self._disk.run(lambda: held.enter_context(closing(self._part())))
            await self._hash_partial(part)
            return await self._from_any_source(part)
        finally:
            await self._disk.run(held.close)

    def _part(self) -> PartFile:
        return PartFile(part_of(self._folder, self._model), self._model.size_bytes)

    def _check_room(self) -> None:
        shutil.rmtree(packages_of(self._folder, self._model), ignore_errors=True)  # left by a killed process
        there = size_of(part_of(self._folder, self._model)) or 0
        free = shutil.disk_usage(self._folder).free
        missing = self._model.size_bytes - there + MARGIN_BYTES - free
        if missing > 0:
            raise StorageError(
                f"{self._model.title} needs {megabytes(self._model.size_bytes - there)} more in {self._folder}, plus "
                f"some spare space. Only {megabytes(free)} is free: free another {megabytes(missing)}, then try again."
            )

    async def _hash_partial(self, part: PartFile) -> None:
        if part.size:
            self._writers = {_EARLIER}
            self._report(part.size, None)
            while await self._disk.run(part.hash_on):
                pass

    async def _from_any_source(self, part: PartFile) -> Path:
        left = list(self._sources)
        is_reachable_later = False
        while left or part.size == self._model.size_bytes:
            source = left[0] if left else None
            try:
                if source is not None:
                    await self._fill(part, source, is_last=len(left) == 1)
            except (FileNotAvailable, DownloadInterrupted) as problem:
                is_reachable_later |= isinstance(problem, DownloadInterrupted)
                self._problems[left.pop(0).name] = str(problem)
                continue
            found = part.sha256
            if found == self._model.sha256:
                return await self._disk.run(partial(part.finish, self._folder / self._model.file_name))
            await self._disk.run(part.clear)
            self._report(0, None)
            if source is None or self._writers == {source.name}:
                self._problems[source.name if source else _EARLIER] = f"its file has the SHA-256 {found}"
                left = left[1:]
            # Else an earlier source may have been at fault: this one is asked again, for the whole file.
            self._writers = set()
        raise self._failure(part, is_reachable_later)

    async def _fill(self, part: PartFile, source: Source, *, is_last: bool) -> None:
        """Fills the file to its full length. Raises: FileNotAvailable, DownloadInterrupted, StorageError."""
        has_given = False
        broken = 0
        while part.size < self._model.size_bytes:
            before = part.size
            self._report(part.size, source.name)
            try:
                await self._take(part, source)
                if part.size < self._model.size_bytes:
                    raise DownloadInterrupted(f"it ended after {part.size:,} of {self._model.size_bytes:,} bytes")
            except DownloadInterrupted:
                has_given |= part.size > before
                broken = 1 if part.size >= before + _WRITTEN_BYTES else broken + 1
                # A source that never sent anything is not waited for if there is another.
                if broken > len(self._waits_s) or not (has_given or is_last):
                    raise
                await self._sleep(self._waits_s[broken - 1])

    async def _take(self, part: PartFile, source: Source) -> None:
        """Writes what the source sends, in large pieces."""
        loop = asyncio.get_running_loop()
        waiting = bytearray()
        written_at = loop.time()

        async def write() -> None:
            nonlocal written_at
            data = bytes(waiting[: self._model.size_bytes - part.size])
            waiting.clear()
            if data:
                self._writers.add(source.name)
                await self._disk.run(lambda: part.append(data))
                self._report(part.size, source.name)
            written_at = loop.time()

        try:
            async with aclosing(source.read(part.size)) as chunks:
                async for chunk in chunks:
                    waiting += chunk
                    if part.size + len(waiting) >= self._model.size_bytes:
                        break  # more bytes would mean another file, which its hash shows
                    if len(waiting) >= _WRITTEN_BYTES or loop.time() - written_at >= _WRITTEN_S:
                        await write()
        finally:
            await write()

    def _failure(self, part: PartFile, is_reachable_later: bool) -> ModelError:
        name = self._model.title
        why = "; ".join(f"{source}: {problem}" for source, problem in self._problems.items()) or "there is no source"
        if is_reachable_later:
            so_far = f" after {megabytes(part.size)}" if part.size else ""
            return DownloadPaused(
                "unavailable",
                f"{name} could not be downloaded completely{so_far}. {_sentence(why)}",
                hint="Check the network connection, then resume; the download continues where it stopped.",
            )
        expected = f"{self._model.file_name} with the SHA-256 {self._model.sha256}"
        return ModelError(
            "unavailable",
            f"{name} could not be downloaded: no source has {expected}. {_sentence(why)}",
            hint="See docs/local-models.md for how to copy the file from another machine.",
        )


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:].rstrip(".") + "."
