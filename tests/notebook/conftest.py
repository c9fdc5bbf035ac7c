from pathlib import Path
from typing import Any

import pytest

from tests.notebook.kernels import KernelPlace


@pytest.fixture
def kernels(jp_serverapp: Any, jp_root_dir: Path, jp_asyncio_loop: Any) -> Any:
    """A notebook of a real server; its kernel starts with the first code that runs."""
    yield KernelPlace(jp_serverapp, jp_root_dir)
    jp_asyncio_loop.run_until_complete(jp_serverapp.kernel_manager.shutdown_all(now=True))
