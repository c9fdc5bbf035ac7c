"""How much memory the process that reads documents may take, and the setting of it. It measures no document.

Linux alone bounds a process's memory so. On macOS and Windows nothing does: there the time that a document may take
is the only bound, and a machine without memory left ends whatever it chooses.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

MAX_BYTES = 3_000_000_000
# With less its libraries cannot be loaded.
MIN_BYTES = 256_000_000
# Two are at work at once at most, and the server with its kernels needs the rest.
_SHARE = 4
# What sets address space aside at its start would be counted as if it were used: memory pools, and a stack a thread.
_MODEST = {"ARROW_DEFAULT_MEMORY_POOL": "system", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def bound_bytes(environment: Mapping[str, str] = os.environ, system: Path = Path("/")) -> int:
    """A quarter of what this container, pod or service may take, and 3 GB at most. `system` holds /proc and /sys."""
    limits = [*_declared(environment), *_of_control_groups(system)]
    return max(MIN_BYTES, min([MAX_BYTES, *(limit // _SHARE for limit in limits)]))


def bound_memory() -> None:
    """Of this process, before it has loaded a library; and whoever looks for one to end takes this one first."""
    if sys.platform != "linux":
        return
    import resource

    os.environ.update(_MODEST)
    bound = bound_bytes()
    with contextlib.suppress(OSError, ValueError):  # a smaller bound holds already
        resource.setrlimit(resource.RLIMIT_DATA, (bound, bound))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _declared(environment: Mapping[str, str]) -> Iterator[int]:
    """As a JupyterHub tells its servers, in bytes. Source: JupyterHub, Spawner.mem_limit."""
    with contextlib.suppress(ValueError):
        if (limit := int(environment.get("MEM_LIMIT", ""))) > 0:
            yield limit


def _of_control_groups(system: Path) -> Iterator[int]:
    """Of the group of this process and those above it. Source: cgroups(7), the kernel's cgroup-v1 and -v2 pages.

    A container may see its own group as the top whatever the name says, so names that are not there are passed over.
    """
    groups = system / "sys/fs/cgroup"
    for line in _text(system / "proc/self/cgroup").splitlines():
        _, _, named = line.partition(":")
        controllers, _, name = named.partition(":")
        if controllers == "":
            top, file = groups, "memory.max"
        elif "memory" in controllers.split(","):
            top, file = groups / "memory", "memory.limit_in_bytes"
        else:
            continue
        group = PurePosixPath(name.lstrip("/"))
        for above in (group, *group.parents):
            with contextlib.suppress(ValueError):  # "max", or no such file
                yield int(_text(top / above / file))


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
