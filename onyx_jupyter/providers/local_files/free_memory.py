"""How much memory a new process may take: what the machine has free, or less where a container is given less."""

from __future__ import annotations

from pathlib import Path

# Linux, cgroup v2: what every container runtime of today sets.
_LIMIT = Path("/sys/fs/cgroup/memory.max")
_TAKEN = Path("/sys/fs/cgroup/memory.current")


def free_memory_bytes() -> int:
    """It is read from files, so not on an event loop."""
    import psutil

    free = int(psutil.virtual_memory().available)
    try:
        limit, taken = _LIMIT.read_text("ascii").strip(), int(_TAKEN.read_text("ascii"))
        return max(0, min(free, int(limit) - taken)) if limit.isdecimal() else free
    except (OSError, ValueError):
        return free
