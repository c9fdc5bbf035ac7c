from pathlib import Path
from typing import Any

import pytest

from tests.notebook.desk import Desk
from tests.notebook.kernels import KernelPlace
from tests.notebook.shelf import Shelf, code


@pytest.fixture
def kernels(jp_serverapp: Any, jp_root_dir: Path, jp_asyncio_loop: Any) -> Any:
    """A notebook of a real server; its kernel starts with the first code that runs."""
    yield KernelPlace(jp_serverapp, jp_root_dir)
    jp_asyncio_loop.run_until_complete(jp_serverapp.kernel_manager.shutdown_all(now=True))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, Shelf(a=[code("one", "x = 1"), code("two", "y = 2"), code("three", "z = 3")], b=[code("b1")]))
