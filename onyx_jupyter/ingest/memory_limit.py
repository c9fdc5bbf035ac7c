"""Limits the memory of the process that reads documents.

Only Linux limits a process's memory this way. On macOS and Windows, the time limit per document is the only bound, and
a machine that runs out of memory kills whatever it chooses.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

MAX_BYTES = 3_000_000_000
# Enough for ordinary pages and tables; it may exceed the available memory, so this process is the first to be killed.
MIN_BYTES = 512_000_000
# No server runs with less: such a number is from another tool, for example in megabytes.
_MIN_PLAUSIBLE_BYTES = 128_000_000
# At most two run at once, and the server with its kernels needs the rest.
_SHARE = 4
# Avoids what reserves address space at start, which would count as used: memory pools, and a stack per thread.
_LOW_MEMORY_ENV = {"ARROW_DEFAULT_MEMORY_POOL": "system", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def bound_bytes(environment: Mapping[str, str] = os.environ, system: Path = Path("/")) -> int:
    """A quarter of the limit of this container, pod or service, at least 512 MB and at most 3 GB. `system`: /."""
    limits = [*_declared(environment), *_cgroup_limits(system)]
    return max(MIN_BYTES, min([MAX_BYTES, *(limit // _SHARE for limit in limits)]))


def bound_memory() -> int | None:
    """Limits this process before it loads a library, and makes it the first choice of the OOM killer.

    Returns the effective limit, None if there is none.
    """
    if sys.platform != "linux":
        return None
    import resource

    os.environ.update(_LOW_MEMORY_ENV)
    bound = bound_bytes()
    with contextlib.suppress(OSError, ValueError):  # a smaller limit is in effect already
        resource.setrlimit(resource.RLIMIT_DATA, (bound, bound))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    held, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return held if held != resource.RLIM_INFINITY else None


def _declared(environment: Mapping[str, str]) -> Iterator[int]:
    """The limit that JupyterHub sets, in bytes. Source: JupyterHub, Spawner.mem_limit."""
    with contextlib.suppress(ValueError):
        if (limit := int(environment.get("MEM_LIMIT", ""))) >= _MIN_PLAUSIBLE_BYTES:
            yield limit


def _cgroup_limits(system: Path) -> Iterator[int]:
    """The limits of this process's group and those above it. Source: cgroups(7), the kernel's cgroup-v1 and -v2 pages.

    A container may see its own group as the root whatever the name says, so missing names are skipped.
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
