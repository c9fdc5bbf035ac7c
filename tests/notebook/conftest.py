from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.notebook.document_service import DocumentService
from tests.notebook.desk import Desk
from tests.notebook.files import service_over
from tests.notebook.kernels import KernelPlace
from tests.notebook.shelf import Shelf, code


@pytest.fixture
def server(jp_serverapp: Any, jp_asyncio_loop: Any) -> Iterator[Any]:
    yield jp_serverapp
    jp_asyncio_loop.run_until_complete(jp_serverapp.kernel_manager.shutdown_all(now=True))


@pytest.fixture
def service(server: Any) -> DocumentService:
    return service_over(server)[0]


@pytest.fixture
def kernels(server: Any, jp_root_dir: Path) -> KernelPlace:
    """A notebook of a real server; its kernel starts with the first code that runs."""
    return KernelPlace(server, jp_root_dir)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, Shelf(a=[code("one", "x = 1"), code("two", "y = 2"), code("three", "z = 3")], b=[code("b1")]))
