"""Returns freed memory to the system."""

from __future__ import annotations

import sys
from contextlib import suppress


def trim_memory() -> None:
    """Returns what glibc would keep: after a model or an index was released, that is most of it."""
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):  # another C library does so by itself, or cannot
            ctypes.CDLL(None).malloc_trim(0)
