"""Jupyter's contents and the drive's behind one interface, chosen by the path. For notebooks, which are in both."""

from __future__ import annotations

from typing import Any

from jupyter_core.utils import ensure_async

from onyx_jupyter.security.drive_folders import DRIVE_PREFIX


class MergedContents:
    """The part of a contents manager that the notebook tools need; models keep the path of the request."""

    def __init__(self, server: Any, drive: Any) -> None:
        self._server = server
        self._drive = drive

    async def get(self, path: str, **options: Any) -> dict[str, Any]:
        contents, local = self._of(path)
        model: dict[str, Any] = await ensure_async(contents.get(local, **options))
        return {**model, "path": path}

    async def save(self, model: dict[str, Any], path: str) -> dict[str, Any]:
        contents, local = self._of(path)
        saved: dict[str, Any] = await ensure_async(contents.save(model, local))
        return {**saved, "path": path}

    async def delete(self, path: str) -> None:
        contents, local = self._of(path)
        await ensure_async(contents.delete(local))

    async def file_exists(self, path: str) -> bool:
        contents, local = self._of(path)
        return bool(await ensure_async(contents.file_exists(local)))

    async def dir_exists(self, path: str) -> bool:
        contents, local = self._of(path)
        return bool(await ensure_async(contents.dir_exists(local)))

    def _of(self, path: str) -> tuple[Any, str]:
        on_drive = path.startswith(DRIVE_PREFIX)
        return (self._drive, path.removeprefix(DRIVE_PREFIX)) if on_drive else (self._server, path)
