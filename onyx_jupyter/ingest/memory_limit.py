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
# What ordinary pages and tables take; that this may be more than there is, is why it is the first to be ended.
MIN_BYTES = 512_000_000
# No server runs with less: such a number is another tool's, in megabytes for one.
_LEAST_BELIEVED_BYTES = 128_000_000
# Two are at work at once at most, and the server with its kernels needs the rest.
_SHARE = 4
# What sets address space aside at its start would be counted as if it were used: memory pools, and a stack a thread.
_MODEST = {"ARROW_DEFAULT_MEMORY_POOL": "system", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def bound_bytes(environment: Mapping[str, str] = os.environ, system: Path = Path("/")) -> int:
    """A quarter of what this container, pod or service may take, 512 MB at least and 3 GB at most. `system`: /."""
    limits = [*_declared(environment), *_of_control_groups(system)]
    return max(MIN_BYTES, min([MAX_BYTES, *(limit // _SHARE for limit in limits)]))


def bound_memory() -> int | None:
    """Of this process, before it has loaded a library; and whoever looks for one to end takes this one first.

    Gives the bound that holds, None where there is none.
    """
    if sys.platform != "linux":
        return None
    import resource

    os.environ.update(_MODEST)
    bound = bound_bytes()
    with contextlib.suppress(OSError, ValueError):  # a smaller bound holds already
        resource.setrlimit(resource.RLIMIT_DATA, (bound, bound))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    held, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return held if held != resource.RLIM_INFINITY else None


def _declared(environment: Mapping[str, str]) -> Iterator[int]:
    """As a JupyterHub tells its servers, in bytes. Source: JupyterHub, Spawner.mem_limit."""
    with contextlib.suppress(ValueError):
        if (limit := int(environment.get("MEM_LIMIT", ""))) >= _LEAST_BELIEVED_BYTES:
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
