"""A notebook's file is taken away only where nobody's work in it can be overlooked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.browser_tabs import OpenNotebook, TabRequests
from onyx_jupyter.notebook.kernel_sessions import KernelSession
from onyx_jupyter.notebook.paths import NotebookPaths
from onyx_jupyter.notebook.server_files import remover
from onyx_jupyter.testing.fake_clock import fake_ids

PATH = "f/a.ipynb"


class Office:
    """Tabs, rooms and kernel sessions around one notebook; `deleted` is what the contents were asked to delete."""

    def __init__(self, *, tabs: int = 0, connections: int = 0, has_room: bool = False) -> None:
        self.deleted: list[str] = []
        self.connections = connections
        self.has_room = has_room
        requests = TabRequests(fake_ids(), NotebookPaths(Path("/home")))
        for _ in range(tabs):
            requests.updated(requests.opened(self._send), [OpenNotebook(PATH)])
        self.remove = remover(self, requests, self, self)

    def has(self, path: str) -> bool:
        return self.has_room

    async def find(self, path: str) -> KernelSession | None:
        return KernelSession("k1", "python3", "idle", self.connections) if self.connections else None

    def delete(self, path: str) -> None:
        self.deleted.append(path)

    async def _send(self, request_id: str, action: str, params: Mapping[str, Any]) -> None:
        raise AssertionError("no tab is asked")


@pytest.mark.parametrize(
    ("around", "code"),
    [
        ({"tabs": 2}, "open_in_tabs"),
        ({"connections": 1}, "open_elsewhere"),
    ],
)
async def test_notebook_others_may_be_editing_stays(around: dict[str, Any], code: str) -> None:
    office = Office(**around)
    with pytest.raises(NotebookError) as refused:
        await office.remove(PATH)
    assert refused.value.code == code
    assert office.deleted == []


@pytest.mark.parametrize("around", [{}, {"tabs": 1, "connections": 1}, {"tabs": 2, "connections": 2, "has_room": True}])
async def test_notebook_fully_visible_is_deleted(around: dict[str, Any]) -> None:
    office = Office(**around)
    await office.remove(PATH)
    assert office.deleted == [PATH]
