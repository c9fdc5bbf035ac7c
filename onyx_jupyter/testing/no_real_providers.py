"""Sets the switch that forbids every provider outside this machine. Providers check the switch."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from onyx_jupyter.providers.network_guard import FORBID_VARIABLE


@contextmanager
def no_real_providers() -> Iterator[None]:
    """Inside this context, opening a model outside this machine raises ModelError (refused)."""
    before = os.environ.get(FORBID_VARIABLE)
    os.environ[FORBID_VARIABLE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[FORBID_VARIABLE]
        else:
            os.environ[FORBID_VARIABLE] = before
