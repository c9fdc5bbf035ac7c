"""Checkpoints of the drive's files, in a separate folder, so that none is among the files that an agent reads."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

from jupyter_server.services.contents.filecheckpoints import AsyncFileCheckpoints

from onyx_jupyter.storage.atomic_write import make_private_folder


class DriveCheckpoints(AsyncFileCheckpoints):
    """One per file, under ONYX_HOME/checkpoints by the file's path on the drive. Deleted along with their folder."""

    def checkpoint_path(self, checkpoint_id: str, path: str) -> str:
        """Raises: HTTPError (404) for a path that the drive does not show."""
        place = self._place(path)
        make_private_folder(place.parent)
        return str(place.with_name(f"{place.stem}-{checkpoint_id}{place.suffix}"))

    async def rename_all_checkpoints(self, old_path: str, new_path: str) -> None:
        await super().rename_all_checkpoints(old_path, new_path)
        old, new = self._place(old_path), self._place(new_path)
        if old.is_dir() and not new.exists():
            make_private_folder(new.parent)
            await asyncio.to_thread(shutil.move, old, new)

    async def delete_all_checkpoints(self, path: str) -> None:
        await super().delete_all_checkpoints(path)
        if (place := self._place(path)).is_dir():
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)

    def _place(self, path: str) -> Path:
        contents: Any = self.parent
        contents._get_os_path(path)
        folder: Path = contents.checkpoints_folder
        return folder.joinpath(*(part for part in path.split("/") if part))
