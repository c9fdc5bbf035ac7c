"""The model downloaded by set-up, for the few tests that run a real one, with short answers."""

from importlib.util import find_spec
from typing import Any

import pytest

from onyx_jupyter.providers.local_files.catalogue import CATALOGUE
from onyx_jupyter.providers.local_files.storage_folders import find_file, shared_folders

MODEL = CATALOGUE[0]
FILE = find_file(MODEL, shared_folders())

_IS_MISSING = FILE is None or find_spec("xllamacpp") is None
_REASON = f"{MODEL.title} is not in this environment: make setup fetches it"


LOCAL_MODEL_MARKS = [pytest.mark.local_model, pytest.mark.skipif(_IS_MISSING, reason=_REASON)]
"""For a module that runs it: skipped, with the reason, where it is not there."""


def needs_local_model(test: Any) -> Any:
    """The same for one test."""
    for mark in LOCAL_MODEL_MARKS:
        test = mark(test)
    return test
