"""Fixtures for the tests of models."""

from pathlib import Path

import pytest

from tests.local_model import FILE
from tests.shortened_gguf import shorten


@pytest.fixture(scope="session")
def shortened_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that is read and written by the same process as the whole one, without its sense."""
    assert FILE is not None
    return shorten(FILE, tmp_path_factory.mktemp("models") / "shortened.gguf", blocks=2)
