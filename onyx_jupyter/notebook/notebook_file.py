"""Reads and writes notebooks through Jupyter's contents API. It never overwrites one that is open elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.cells import cell_ids, read_only

T = TypeVar("T")
_MINOR_WITH_IDS = 5
_MAX_KNOWN = 100
# Jupyter empties a file before rewriting it, so a file that is being saved is briefly no valid notebook.
_TRIES, _BETWEEN_TRIES_S = 4, 0.1


@dataclass(slots=True)
class NotebookFile:
    """A notebook's content (nbformat 4 JSON, each cell with an id), and the version of the file it came from."""

    path: str
    content: dict[str, Any]
    version: object

    @property
    def cells(self) -> list[dict[str, Any]]:
        cells: list[dict[str, Any]] = self.content["cells"]
        return cells

    @property
    def ids(self) -> list[str]:
        """The ids of its cells."""
        return [cell["id"] for cell in self.cells]

    @property
    def kernel_name(self) -> str | None:
        """The kernel named in the notebook's metadata."""
        kernelspec = self.content.get("metadata", {}).get("kernelspec") or {}
        return kernelspec.get("name") or None


class NotebookFiles:
    """Notebooks as files. `refuse_write` is called right before each write and raises if it must not happen."""

    def __init__(self, contents_manager: Any, refuse_write: Callable[[str], Awaitable[None]]) -> None:
        self._contents = contents_manager
        self._refuse_write = refuse_write
        self._known_ids: dict[str, tuple[object, list[str]]] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def load(self, path: str) -> NotebookFile:
        """Never reads during a save: Jupyter would take the previous version for a lost file and restore it.

        Raises: NotebookError (not_found, not_notebook).
        """
        async with self._lock(path):
            return await self._load(path)

    async def _load(self, path: str) -> NotebookFile:
        model = await self._get(path, content=True)
        content = model.get("content")
        if model.get("type") != "notebook" or not isinstance(content, dict) or "cells" not in content:
            raise NotebookError("not_notebook", f"{path} is not a Jupyter notebook.")
        file = NotebookFile(path, content, model.get("last_modified"))
        for cell, cell_id in zip(file.cells, self._ids(file), strict=True):
            cell["id"] = cell_id
        return file

    def _ids(self, file: NotebookFile) -> list[str]:
        """The ids of the last reading as long as the file is unchanged.

        If two cells share an id, and in formats before 4, nbformat makes up new ones at each reading.
        """
        version, ids = self._known_ids.pop(file.path, (None, []))
        if version is None or version != file.version or len(ids) != len(file.cells):
            ids = cell_ids(file.cells)
        self._known_ids[file.path] = (file.version, ids)
        while len(self._known_ids) > _MAX_KNOWN:
            del self._known_ids[next(iter(self._known_ids))]
        return ids

    async def change(self, path: str, change: Callable[[NotebookFile], T]) -> T:
        """Loads, lets `change` alter the content, and saves; retries once if the file changed in between.

        Raises: NotebookError (stale if it changed twice, would_empty, not_saved), or whatever `change` raises.
        """
        async with self._lock(path):
            for _ in range(2):
                file = await self._load(path)
                had_cells = bool(file.cells)
                result = change(file)
                if had_cells and not file.cells:
                    raise NotebookError("would_empty", f"{path} was left alone: the change would remove all its cells.")
                await self._refuse_write(path)
                now = await self._get(path, content=False)
                if now.get("writable") is False:
                    raise read_only(path)
                if now.get("last_modified") == file.version:
                    await self._save(file)
                    return result
        raise NotebookError("stale", f"{path} is being changed by someone else right now. Read it again.")

    async def create(self, path: str, content: Mapping[str, Any]) -> None:
        """Creates a new file. Raises: NotebookError (exists, no_folder, not_saved)."""
        async with self._lock(path):
            if await self.has(path) or await self._is_folder(path):
                raise NotebookError("exists", f"{path} exists already. Choose another name.")
            folder = path.rpartition("/")[0]
            if not await self._is_folder(folder):
                raise NotebookError(
                    "no_folder", f"There is no folder {folder}. Create it first, or choose another one."
                )
            await self._save(NotebookFile(path, dict(content), None))

    def _lock(self, path: str) -> asyncio.Lock:
        return self._locks.setdefault(path, asyncio.Lock())

    async def has(self, path: str) -> bool:
        """Whether a file of that name exists."""
        return bool(await ensure_async(self._contents.file_exists(path)))

    async def _is_folder(self, path: str) -> bool:
        return bool(await ensure_async(self._contents.dir_exists(path)))

    async def _save(self, file: NotebookFile) -> None:
        if file.content.get("nbformat_minor", 0) < _MINOR_WITH_IDS:
            file.content["nbformat_minor"] = _MINOR_WITH_IDS
        model = {"type": "notebook", "format": "json", "content": file.content}
        try:
            await ensure_async(self._contents.save(model, file.path))
        except HTTPError as error:
            raise NotebookError("not_saved", f"{file.path} could not be saved: {_reason(error)}.") from error

    async def _get(self, path: str, *, content: bool, tries: int = _TRIES) -> dict[str, Any]:
        try:
            model: dict[str, Any] = await ensure_async(self._contents.get(path, content=content))
        except HTTPError as error:
            if error.status_code == HTTPStatus.BAD_REQUEST and tries > 1:  # a front end may be saving it
                await asyncio.sleep(_BETWEEN_TRIES_S)
                return await self._get(path, content=content, tries=tries - 1)
            code = "not_found" if error.status_code == HTTPStatus.NOT_FOUND else "not_notebook"
            raise NotebookError(code, f"{path} cannot be read as a notebook: {_reason(error)}.") from error
        return model


def _reason(error: HTTPError) -> str:
    with contextlib.suppress(TypeError, ValueError):
        if error.log_message:
            return (error.log_message % error.args if error.args else error.log_message).rstrip(".")
    return error.reason or f"error {error.status_code}"
