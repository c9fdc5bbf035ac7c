from pathlib import Path

import pytest

from tests.ingest.desk import Desk


@pytest.fixture
def desk(tmp_path: Path, jp_asyncio_loop):
    desk = Desk(tmp_path)
    yield desk
    jp_asyncio_loop.run_until_complete(desk.close())
