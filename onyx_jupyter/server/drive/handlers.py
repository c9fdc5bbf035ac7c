"""The drive over HTTP, as JupyterLab expects it: Jupyter's own contents handlers over Onyx's files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_server.base.handlers import path_regex
from jupyter_server.files.handlers import FilesHandler
from jupyter_server.services.contents.handlers import (
    CheckpointsHandler,
    ContentsHandler,
    ModifyCheckpointsHandler,
    TrustNotebooksHandler,
)
from jupyter_server.utils import url_escape, url_path_join

from onyx_jupyter.server.refusals import Guarded

if TYPE_CHECKING:
    from onyx_jupyter.server.drive.contents import DriveContents

CONTENTS = "onyx/api/contents"
FILES = "onyx/files"


class _OnDrive(Guarded):
    """A handler whose contents are the drive's. Onyx is loaded only for users who are logged in."""

    _drive: DriveContents

    async def prepare(self, **options: Any) -> None:
        await super().prepare(**options)
        if self.current_user is not None and not self._finished:
            service = await self._service()
            await service.onyx.ready()
            self._drive = service.drive_contents

    @property
    def contents_manager(self) -> DriveContents:
        return self._drive

    def location_url(self, path: str) -> str:
        """Where JupyterLab finds a newly created file."""
        return str(url_path_join(self.base_url, CONTENTS, url_escape(path)))


class DriveContentsHandler(_OnDrive, ContentsHandler):
    """{base_url}onyx/api/contents: files and folders."""


class DriveCheckpointsHandler(_OnDrive, CheckpointsHandler):
    """…/checkpoints: the checkpoints of a file."""


class DriveCheckpointHandler(_OnDrive, ModifyCheckpointsHandler):
    """…/checkpoints/<id>: restoring one."""


class DriveTrustHandler(_OnDrive, TrustNotebooksHandler):
    """…/trust: allows a notebook's outputs to run."""


class DriveFilesHandler(_OnDrive, FilesHandler):  # type: ignore[misc]
    """{base_url}onyx/files: a raw file, to download or to show."""


def drive_handlers(doors: dict[str, Any]) -> list[tuple[str, type[Any], dict[str, Any]]]:
    """All handlers, by address; each is given `doors`."""
    checkpoint = r"(?P<checkpoint_id>[\w-]+)"
    return [
        (rf"{CONTENTS}{path_regex}/checkpoints", DriveCheckpointsHandler, doors),
        (rf"{CONTENTS}{path_regex}/checkpoints/{checkpoint}", DriveCheckpointHandler, doors),
        (rf"{CONTENTS}{path_regex}/trust", DriveTrustHandler, doors),
        (rf"{CONTENTS}{path_regex}", DriveContentsHandler, doors),
        (rf"{FILES}/(.*)", DriveFilesHandler, doors),
    ]
