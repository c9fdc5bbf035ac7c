"""What the extension costs before anybody uses it: processor time, memory and import time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

from benchmarks.figures import Figure, Group
from benchmarks.jupyter_process import JupyterProcess

PAIRS = 7
IMPORTS = 9
METHOD = (
    "`jupyter server` with JupyterLab, with the extension switched on and off in turn, in one run. Read at the moment "
    "`/api/status` first answers: user and system time of the process and its children, and the process's resident "
    "memory. The ratio and the difference are those of neighbours in time. Imports are timed in a fresh process each."
)


def measure() -> Group:
    _start(extension=True)  # compiles what was never compiled and fills the disk cache
    with_it: list[tuple[float, int]] = []
    without: list[tuple[float, int]] = []
    for number in range(PAIRS):
        first = number % 2 == 0  # whichever goes first has no advantage over all pairs
        for extension in (first, not first):
            (with_it if extension else without).append(_start(extension=extension))
    pairs = list(zip(with_it, without, strict=True))
    return Group(
        "Start-up",
        METHOD,
        [
            Figure(
                "CPU to /api/status, with ÷ without",
                [ours[0] / theirs[0] for ours, theirs in pairs],
                "×",
                1.10,
                "jupyter-ai 3.2 ≈ 1.7, NBI 6.2 ≈ 1.3",
                3,
            ),
            Figure(
                "  the same from the lowest of each", [_lowest_cpu_s(with_it) / _lowest_cpu_s(without)], "×", digits=3
            ),
            Figure("  CPU without", [cpu_s for cpu_s, _ in without], "s"),
            Figure(
                "  CPU that the extension adds",
                [1000 * (ours[0] - theirs[0]) for ours, theirs in pairs],
                "ms",
                digits=0,
            ),
            Figure(
                "resident memory that it adds before first use",
                [(ours[1] - theirs[1]) / 1e6 for ours, theirs in pairs],
                "MB",
                15,
                "jupyter-ai +54, NBI +40",
                1,
            ),
            Figure("  resident memory without", [rss / 1e6 for _, rss in without], "MB", digits=1),
            Figure("import onyx_jupyter", [_import_ms("", "onyx_jupyter") for _ in range(IMPORTS)], "ms", 50, digits=1),
            Figure(
                "  what Jupyter imports of it at start",
                [_import_ms("jupyter_server.serverapp", "onyx_jupyter.server.extension") for _ in range(IMPORTS)],
                "ms",
                digits=1,
            ),
        ],
    )


def _start(*, extension: bool) -> tuple[float, int]:
    """CPU seconds and resident bytes when the server first answers."""
    with JupyterProcess(extension=extension) as server:
        measured = server.cpu_s(), server.resident_bytes()
        if (server.get("onyx/health") == 200) != extension:
            raise RuntimeError(f"The extension should be {'on' if extension else 'off'} and is not.")
        return measured


def _lowest_cpu_s(starts: Sequence[tuple[float, int]]) -> float:
    """The minimum: other load makes a process slower, never faster."""
    return min(cpu_s for cpu_s, _ in starts)


def _import_ms(before: str, module: str) -> float:
    """Milliseconds of `import module` in a fresh process that has imported `before`."""
    lines = [
        f"import {before}" if before else "",
        "from time import perf_counter",
        "began = perf_counter()",
        f"import {module}",
        "print(1000 * (perf_counter() - began))",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True, timeout=60
    )
    return float(done.stdout)
