"""How much memory a new process may take: the machine's free memory, or a container's lower limit."""

from __future__ import annotations

from pathlib import Path

# Linux, cgroup v2: set by every current container runtime.
_LIMIT = Path("/sys/fs/cgroup/memory.max")
_TAKEN = Path("/sys/fs/cgroup/memory.current")


def free_memory_bytes() -> int:
    """Reads files, so not for use on an event loop."""
    import psutil

    free = int(psutil.virtual_memory().available)
    try:
        limit, taken = _LIMIT.read_text("ascii").strip(), int(_TAKEN.read_text("ascii"))
        return max(0, min(free, int(limit) - taken)) if limit.isdecimal() else free
    except (OSError, ValueError):
        return free
