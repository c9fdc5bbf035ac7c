"""Onyx's drive for Jupyter's contents API. It shows only the folders of the drive.

Every path goes through `_get_os_path`: a hidden name, a link out of its folder, or a path in no folder of the drive
counts as not found.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from tornado.web import HTTPError
from traitlets import validate

from onyx_jupyter.config.paths import Home
from onyx_jupyter.security.drive_folders import DriveFolder, DriveFolders, FolderSnapshot, is_hidden
from onyx_jupyter.server.drive.checkpoints import DriveCheckpoints

AroundChange = Callable[[Sequence[Path]], AbstractAsyncContextManager[None]]
_SNAPSHOT: ContextVar[FolderSnapshot | None] = ContextVar("onyx_drive_looked_up", default=None)


class DriveContents(AsyncLargeFileManager):
    """The contents manager of the drive; `private` is ONYX_HOME, `checkpoints` the folder for checkpoints of its files.

    `around_change` is entered for each change, with the real paths concerned.
    """

    def __init__(
        self, drive: DriveFolders, private: Path, checkpoints: Path, around_change: AroundChange, **traits: Any
    ) -> None:
        self.drive = drive
        self._around_change = around_change
        self.checkpoints_folder = checkpoints
        self._private = private.resolve()
        # Hidden names are refused below: Jupyter's own check starts from a single root, and the drive has several.
        super().__init__(
            root_dir=str(private), allow_hidden=True, checkpoints_class=DriveCheckpoints, preferred_dir="", **traits
        )

    @validate("root_dir")
    def _validate_root_dir(self, proposal: dict[str, Any]) -> str:
        """ONYX_HOME may be created only on first start, so its existence is not checked here."""
        return str(proposal["value"])

    @validate("preferred_dir")
    def _validate_preferred_dir(self, proposal: dict[str, Any]) -> str:
        return str(proposal["value"])

    # ── what is there ───────────────────────────────────────────────────────────────────────────────

    async def get(
        self,
        path: str,
        content: bool = True,
        type: str | None = None,  # noqa: A002
        format: str | None = None,  # noqa: A002
        require_hash: bool = False,
    ) -> dict[str, Any]:
        """As in Jupyter; the drive itself is a folder of folders."""
        path = path.strip("/")
        if path:
            model: dict[str, Any] = await super().get(path, content, type, format, require_hash)
            return model
        if type not in (None, "directory"):
            raise HTTPError(400, "This is the top folder of Onyx's files, not a file.")
        return await self._top(content)

    def should_list(self, name: str) -> bool:
        return not is_hidden(name) and bool(super().should_list(name))

    def is_writable(self, path: str) -> bool:
        """The folders of the drive cannot be changed themselves; their contents can, if they are writable."""
        folder = self._folder(path)
        return folder is not None and folder.writable and bool(super().is_writable(path))

    async def get_kernel_path(self, path: str, model: dict[str, Any] | None = None) -> str:
        """Kernels start in the server's root, where the paths in a skill begin."""
        return ""

    # ── changes ─────────────────────────────────────────────────────────────────────────────────────

    async def save(self, model: dict[str, Any], path: str = "") -> dict[str, Any]:
        self._refuse_fixed(path)
        async with self._noting(path):
            saved: dict[str, Any] = await super().save(model, path)
        return saved

    async def delete_file(self, path: str) -> None:
        self._refuse_fixed(path)
        async with self._noting(path):
            await super().delete_file(path)

    async def rename_file(self, old_path: str, new_path: str) -> None:
        self._refuse_fixed(old_path)
        self._refuse_fixed(new_path)
        async with self._noting(old_path, new_path):
            await super().rename_file(old_path, new_path)

    async def copy(self, from_path: str, to_path: str | None = None) -> dict[str, Any]:
        """As in Jupyter; a folder with links out of the drive is refused, since copying would follow them."""
        source = self._get_os_path(from_path.strip("/"))
        target = (to_path if to_path is not None else from_path.rpartition("/")[0]).strip("/")
        self._refuse_fixed(f"{target}/copy")
        if "/" not in from_path.strip("/"):
            raise HTTPError(400, "The top-level folders of Onyx's files cannot be copied. Copy their contents instead.")
        if await asyncio.to_thread(_lies_in, self._get_os_path(target), source):
            raise HTTPError(400, f"{from_path} cannot be copied into itself.")
        if await asyncio.to_thread(self._holds_link_out, source):
            raise HTTPError(400, f"{from_path} contains a link that leads out of Onyx's files, so it was not copied.")
        copied: dict[str, Any] = await super().copy(from_path, target)
        return copied

    async def _copy_dir(self, from_path: str, to_path_original: str, to_name: str, to_path: str) -> dict[str, Any]:
        """As in Jupyter, whose own method would block the whole server while copying."""
        source = self._get_os_path(from_path.strip("/"))
        place = Path(self._get_os_path(to_path_original), to_name)
        try:
            await asyncio.to_thread(shutil.copytree, source, place)
        except OSError as error:
            raise HTTPError(400, f"{from_path} cannot be copied: {error}") from error
        return await self.get(to_path, content=False)

    async def restore_checkpoint(self, checkpoint_id: str, path: str) -> None:
        self._refuse_fixed(path)
        async with self._noting(path):
            await super().restore_checkpoint(checkpoint_id, path)

    async def _dir_model(self, path: str, content: bool = True) -> dict[str, Any]:
        """As in Jupyter, whose own method would fail completely at the first missing entry."""
        model: dict[str, Any] = await super()._dir_model(path, content=False)
        if content:
            model["content"] = []
            looked_up = _SNAPSHOT.set(await asyncio.to_thread(self.drive.now))
            try:
                for name in await asyncio.to_thread(self._shown_in, path):
                    with suppress(HTTPError):  # deleted meanwhile
                        model["content"].append(await self.get(f"{path}/{name}", content=False))
            finally:
                _SNAPSHOT.reset(looked_up)
            model["format"] = "json"
        return model

    # ── paths ───────────────────────────────────────────────────────────────────────────────────────

    def _get_os_path(self, path: str) -> str:
        """Raises: HTTPError (404) for all that the drive does not show."""
        parts = [part for part in path.split("/") if part]
        if not parts:
            return str(self._private)
        now = self._now()
        folder = now.folders.get(parts[0])
        if folder is None or any(is_hidden(part) or "\0" in part or os.sep in part for part in parts):
            raise HTTPError(404, f"There is no {path!r} in Onyx's files. Folders: {self._names}.")
        place = folder.real.joinpath(*parts[1:])
        if now.real(path) is None:
            raise HTTPError(404, f"There is no {path!r} in Onyx's files.")
        return str(place)

    def _shown_in(self, path: str) -> list[str]:
        """The names in a folder, except for links out, hidden ones, and anything but files and folders."""
        with os.scandir(self._get_os_path(path)) as entries:
            names = [entry.name for entry in entries if self.should_list(entry.name)]
        now = self._now()
        places = ((name, now.real(f"{path}/{name}")) for name in names)
        return [name for name, place in places if place is not None and (place.is_file() or place.is_dir())]

    def _now(self) -> FolderSnapshot:
        """The drive's folders; a listing looks them up once for all of its entries."""
        return _SNAPSHOT.get() or self.drive.now()

    def _noting(self, *paths: str) -> AbstractAsyncContextManager[None]:
        return self._around_change([Path(self._get_os_path(path.strip("/"))).resolve() for path in paths])

    def _folder(self, path: str) -> DriveFolder | None:
        return self._now().folders.get(path.strip("/").partition("/")[0])

    def _refuse_fixed(self, path: str) -> None:
        """Raises: HTTPError (405) for the folders themselves, anything beside them, and read-only ones."""
        name, _, rest = path.strip("/").partition("/")
        folder = self._folder(path)
        if folder is None or not rest:
            raise HTTPError(
                405, f"The top-level folders of Onyx's files cannot be changed. Work inside one of: {self._names}."
            )
        if not folder.writable:
            raise HTTPError(405, f"{name} comes with Onyx and is read-only. Copy what you want to change.")

    def _holds_link_out(self, folder: str) -> bool:
        now = self.drive.now()
        entries = (Path(place) / name for place, folders, files in os.walk(folder) for name in (*folders, *files))
        return any(entry.is_symlink() and now.shown(entry.resolve()) is None for entry in entries)

    @property
    def _names(self) -> str:
        return ", ".join(self.drive.all())

    async def _top(self, content: bool) -> dict[str, Any]:
        folders: list[dict[str, Any]] = []
        for name, folder in self.drive.all().items():
            if content and folder.real.is_dir():
                folders.append(await self.get(name, content=False))
        changed = datetime.fromtimestamp(self._private.stat().st_mtime, UTC)
        return {
            "name": "",
            "path": "",
            "type": "directory",
            "created": changed,
            "last_modified": changed,
            "writable": False,
            "content": folders if content else None,
            "format": "json" if content else None,
            "mimetype": None,
            "size": None,
            "hash": None,
            "hash_algorithm": None,
        }


def _lies_in(place: str, folder: str) -> bool:
    return Path(place).resolve().is_relative_to(Path(folder).resolve())


def drive_contents(server_app: Any, drive: DriveFolders, home: Home, around_change: AroundChange) -> DriveContents:
    """The drive of a running Jupyter server, with that server's way of deleting."""
    own = server_app.contents_manager
    names = ("delete_to_trash", "always_delete_dir", "use_atomic_writing", "hash_algorithm")
    same = {name: getattr(own, name) for name in names if hasattr(own, name)}
    return DriveContents(drive, home.root, home.checkpoints, around_change, log=server_app.log, **same)
