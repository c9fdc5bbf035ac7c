"""The server of the golden conversation: the one of the socket's tests.

ONYX_RECORD_GOLDEN=1 writes anew what it says and keeps, for a change that is meant; the difference is then reviewed.
"""

import os
import shutil
from pathlib import Path

import pytest

from tests.server.conftest import connect, jp_server_config, onyx_home, replies

__all__ = ["connect", "jp_server_config", "onyx_home", "replies"]

RECORDS = os.environ.get("ONYX_RECORD_GOLDEN") == "1"
PLACE = Path("/tmp/onyx-golden")
"""Where it is recorded: a chained audit file holds its folder's name for good."""


@pytest.fixture
def tmp_path(tmp_path):
    """Also of the server's fixtures."""
    if not RECORDS:
        return tmp_path
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir()
    return PLACE
