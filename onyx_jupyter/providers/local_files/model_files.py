"""The model files of one Jupyter server: their state, and fetching, pausing and removing them.

Nothing is fetched unasked. Changes by other servers that share the folder are noticed, and left alone.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import InvalidRequest, ModelError, NotFound, OnyxError, StorageError
from onyx_jupyter.providers.local_files.catalogue import CATALOGUE, CatalogueModel, model_named, recommended
from onyx_jupyter.providers.local_files.download_lock import DownloadedElsewhere, DownloadLock
from onyx_jupyter.providers.local_files.file_download import WAITS_S, FileDownload
from onyx_jupyter.providers.local_files.free_memory import free_memory_bytes
from onyx_jupyter.providers.local_files.source import Source
from onyx_jupyter.providers.local_files.storage_folders import (
    find_file,
    is_writable,
    packages_of,
    part_of,
    shared_folders,
    size_of,
)
from onyx_jupyter.storage.disk_errors import disk_errors

log = logging.getLogger(__name__)

FileState = Literal["ready", "missing", "fetching", "paused", "failed"]
REPORT_EVERY_S = 0.25
_POLL_INTERVAL_S = 0.5


@dataclass(frozen=True, slots=True)
class ModelFile:
    """The state of one model's file. `done_bytes` of it are there; `source` is where they come from, `fetcher` the
    other process that fetches it; `path` is in ONYX_HOME or (`is_shared`) in a folder for all users.
    """

    model: CatalogueModel
    state: FileState
    done_bytes: int
    fits_memory: bool
    recommended: bool
    source: str | None = None
    fetcher: str | None = None
    error: str | None = None
    path: Path | None = None
    is_shared: bool = False
    removable: bool = False


@dataclass(slots=True)
class _Work:
    """What this server does, or did last, with one file."""

    task: asyncio.Task[None] | None = None
    done_bytes: int = 0
    source: str | None = None
    error: str | None = None
    last_reported_at: float = float("-inf")
    watch: asyncio.Task[None] | None = field(default=None)

    @property
    def is_fetching(self) -> bool:
        return self.task is not None and not self.task.done()


class ModelFiles:
    """All model files. Its methods belong to one event loop."""

    def __init__(
        self,
        folder: Path,
        sources: Callable[[CatalogueModel], Sequence[Source]],
        report: Callable[[ModelFile], None],
        release: Callable[[Path], Awaitable[bool]],
        clock: Clock,
        *,
        catalogue: Sequence[CatalogueModel] = CATALOGUE,
        shared: Sequence[Path] | None = None,
        waits_s: Sequence[float] = WAITS_S,
    ) -> None:
        """`report` is called on every change, at most four times a second while a file grows; `release` ends the
        process that has a file open, and returns whether the file is unused now.
        """
        self._folder = folder
        self._sources = sources
        self._report = report
        self._release = release
        self._clock = clock
        self._catalogue = catalogue
        self._shared = shared_folders() if shared is None else tuple(shared)
        self._waits_s = waits_s
        self._work: Mapping[str, _Work] = {model.name: _Work() for model in catalogue}

    async def list(self) -> list[ModelFile]:
        """The models of the catalogue, in its order."""
        return await asyncio.gather(*(self._status(model) for model in self._catalogue))

    async def fetch(self, name: str) -> ModelFile:
        """Starts or resumes fetching; does nothing if the file is there or being fetched. Raises: NotFound."""
        model = self._model(name)
        work = self._work[model.name]
        file = await self._status(model)
        if file.state not in ("ready", "fetching") and not work.is_fetching:
            work.error, work.source, work.done_bytes = None, None, file.done_bytes
            work.task = asyncio.create_task(self._fetch(model, file), name=f"onyx fetch {model.name}")
            return await self._report_status(model)
        return file

    async def pause(self, name: str) -> ModelFile:
        """Stops fetching and keeps what came. Raises: NotFound, InvalidRequest if another process fetches it."""
        model = self._model(name)
        await self._stop(model)
        file = await self._report_status(model)
        if file.fetcher is not None:
            raise InvalidRequest(f"{model.title} is being downloaded by {file.fetcher}: pause it there.", field="id")
        return file

    async def remove(self, name: str, *, shared: bool = False) -> ModelFile:
        """Removes the file or its part; a shared file only if `shared` is set.

        Raises: NotFound, InvalidRequest, ModelError (unavailable) while the model answers, StorageError.
        """
        model = self._model(name)
        await self._stop(model)
        file = await self._status(model)
        if file.fetcher is not None:
            raise InvalidRequest(f"{model.title} is being downloaded by {file.fetcher}: stop it there.", field="id")
        if file.is_shared and not (shared and file.removable):
            why = "removing it removes it for everyone" if file.removable else "it cannot be removed from here"
            raise InvalidRequest(f"{file.path} is shared by everyone who uses this installation: {why}.", field="id")
        if file.path is not None and not await self._release(file.path):
            raise ModelError(
                "unavailable",
                f"{model.title} is in use, so it was not removed.",
                hint="Stop the answer or wait until it ends, then remove the model.",
            )
        await asyncio.to_thread(self._remove, model, file.path)
        work = self._work[model.name]
        work.error, work.source, work.done_bytes = None, None, 0
        return await self._report_status(model)

    async def close(self) -> None:
        """Stops all fetching; the next start resumes it."""
        tasks = [task for work in self._work.values() for task in (work.task, work.watch) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _model(self, name: str) -> CatalogueModel:
        model = model_named(name, self._catalogue)
        if model is None:
            known = ", ".join(model.id for model in self._catalogue)
            raise NotFound(f'There is no model "{name}" to download. Available: {known}.')
        return model

    async def _fetch(self, model: CatalogueModel, file: ModelFile) -> None:
        """`file` is the state before, for the fields that don't change while it grows."""
        work = self._work[model.name]

        def report(done_bytes: int, source: str | None) -> None:
            has_changed = source != work.source
            work.done_bytes, work.source = done_bytes, source
            now = self._clock.monotonic()
            if has_changed or now - work.last_reported_at >= REPORT_EVERY_S:
                work.last_reported_at = now
                self._report(replace(file, state="fetching", done_bytes=done_bytes, source=source, error=None))

        try:
            sources = self._sources(model)
            await FileDownload(model, self._folder, sources, report, waits_s=self._waits_s).run()
        except DownloadedElsewhere:
            pass  # the state is read from disk below
        except OnyxError as error:
            work.error = f"{error} {error.hint}" if error.hint and not isinstance(error, StorageError) else str(error)
            log.warning("The model %s was not downloaded: %s", model.id, error)
        except Exception as error:
            work.error = (
                f"{model.title} could not be downloaded: Onyx hit an internal error. See the server log for details."
            )
            log.exception("The model %s was not downloaded: %s", model.id, type(error).__name__)
        finally:
            work.task = None
        await self._report_status(model)

    async def _stop(self, model: CatalogueModel) -> None:
        task = self._work[model.name].task
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _report_status(self, model: CatalogueModel) -> ModelFile:
        """Reads the current state and reports it."""
        file = await self._status(model)
        self._report(file)
        return file

    async def _status(self, model: CatalogueModel) -> ModelFile:
        free, file = await asyncio.gather(asyncio.to_thread(free_memory_bytes), asyncio.to_thread(self._on_disk, model))
        work = self._work[model.name]
        file = replace(
            file,
            fits_memory=free >= model.memory_bytes,
            recommended=model is recommended(free, self._catalogue),
            error=work.error,
        )
        if file.state == "ready":
            return replace(file, error=None)
        if work.is_fetching:
            return replace(file, state="fetching", done_bytes=work.done_bytes, source=work.source, fetcher=None)
        if file.fetcher is not None:
            self._watch(model)
            return replace(file, error=None)
        if file.state == "missing" and work.error is not None:
            return replace(file, state="failed")
        return file

    def _on_disk(self, model: CatalogueModel) -> ModelFile:
        blank = ModelFile(model, "missing", 0, fits_memory=False, recommended=False)
        path = find_file(model, [self._folder, *self._shared])
        if path is not None:
            return replace(
                blank,
                state="ready",
                done_bytes=model.size_bytes,
                path=path,
                is_shared=path.parent != self._folder,
                removable=is_writable(path.parent),
            )
        done_bytes = size_of(part_of(self._folder, model)) or 0
        part = replace(blank, state="paused" if done_bytes else "missing", done_bytes=done_bytes)
        if self._work[model.name].is_fetching:
            return part
        owner = DownloadLock(self._folder, model.file_name).owner()
        return replace(part, state="fetching", fetcher=str(owner)) if owner else part

    def _remove(self, model: CatalogueModel, path: Path | None) -> None:
        shutil.rmtree(packages_of(self._folder, model), ignore_errors=True)
        for one in (part_of(self._folder, model), *([path] if path else [])):
            with disk_errors("remove", one):
                one.unlink(missing_ok=True)

    def _watch(self, model: CatalogueModel) -> None:
        """Reports the progress of another process until it stops fetching."""
        work = self._work[model.name]
        if work.watch is None or work.watch.done():
            work.watch = asyncio.create_task(self._follow(model), name=f"onyx watch {model.name}")

    async def _follow(self, model: CatalogueModel) -> None:
        while True:
            if (await self._report_status(model)).fetcher is None:
                return
            await asyncio.sleep(_POLL_INTERVAL_S)
