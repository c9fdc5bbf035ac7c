"""Hands memory that was freed to the system. It frees nothing itself."""

from __future__ import annotations

import sys
from contextlib import suppress


def give_memory_back() -> None:
    """What glibc would keep for itself: after a model or an index was let go, that is most of it."""
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):  # another C library does so by itself, or cannot
            ctypes.CDLL(None).malloc_trim(0)
