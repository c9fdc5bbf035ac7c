"""How long it takes to look into a crowded kernel with a big frame, and what that costs the kernel."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.multikernelmanager import AsyncMultiKernelManager

from benchmarks.figures import Figure, Group
from onyx_jupyter.notebook.kernel_inspection import KernelInspection

ROUNDS = 15
LIMIT_MS = 300
# A copy of the frame's smallest column would be 10 MB, of its largest 80 MB.
LIMIT_MB = 10
ROWS = 10_000_000
SETUP = f"""
import numpy as np, pandas as pd
for n in range(500):
    globals()[f"value_{{n}}"] = [n, n / 2, str(n), [n] * 10, {{"n": n}}, np.zeros(n)][n % 6]
del n
numbers = np.random.default_rng(0)
frame = pd.DataFrame({{
    "id": np.arange({ROWS}), "price": numbers.random({ROWS}), "count": numbers.integers(0, 9, {ROWS}),
    "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange({ROWS}), unit="s"),
    "sold": numbers.random({ROWS}) > 0.5,
}})
import gc; gc.collect()
"""
BUSY = "import time\nuntil = time.time() + 600\nwhile time.time() < until: sum(range(1000))"
METHOD = (
    f"A real kernel with 500 variables of six types and a pandas frame of {ROWS:,} rows and five columns (330 MB), "
    f"asked {ROUNDS} times from this process: from the question to the parsed answer, with a new connection each time. "
    "Busy: the same while a cell computes in Python without a pause. Growth is the peak of the kernel's resident "
    "memory during the look (VmHWM, reset before it) less what it was before. Inspecting reads every row of every "
    "column."
)


@dataclass
class _Taken:
    ms: list[float] = field(default_factory=list)
    growth_mb: list[float] = field(default_factory=list)


def measure() -> Group:
    idle, busy, inspected = asyncio.run(_measure())
    return Group(
        "Looking into a kernel",
        METHOD,
        [
            Figure("variables", idle.ms, "ms", LIMIT_MS, digits=0),
            Figure("  growth of the kernel", idle.growth_mb, "MB", LIMIT_MB, digits=1),
            Figure("variables, kernel busy", busy.ms, "ms", digits=0),
            Figure("inspecting the frame", inspected.ms, "ms", digits=0),
            Figure("  growth of the kernel", inspected.growth_mb, "MB", digits=1),
        ],
    )


async def _measure() -> tuple[_Taken, _Taken, _Taken]:
    kernels = AsyncMultiKernelManager()
    kernel_id = await kernels.start_kernel(kernel_name="python3")
    client = kernels.get_kernel(kernel_id).client()
    client.start_channels()
    try:
        await client.wait_for_ready(timeout=60)
        await client.execute(SETUP, reply=True, timeout=120)
        variables = {"about": "variables", "seconds": 2.0, "pattern": None, "functions": False, "most": 300}
        idle = await _taken(kernels, kernel_id, variables)
        inspected = await _taken(kernels, kernel_id, {"about": "inspect", "seconds": 4.0, "name": "frame"})
        client.execute(BUSY)
        await _begun(client)
        busy = await _taken(kernels, kernel_id, variables)
    finally:
        client.stop_channels()
        await kernels.shutdown_all(now=True)
    return idle, busy, inspected


async def _taken(kernels: Any, kernel_id: str, question: dict[str, Any]) -> _Taken:
    questions, taken = KernelInspection(kernels), _Taken()
    process = Path("/proc") / str(kernels.get_kernel(kernel_id).provisioner.pid)
    await questions.ask(kernel_id, **question)  # the first one imports what the standard library still lacks
    for _ in range(ROUNDS):
        before = _reset_peak_mb(process)
        began = time.perf_counter()
        answer = await questions.ask(kernel_id, **question)
        taken.ms.append((time.perf_counter() - began) * 1000)
        taken.growth_mb.append(_status_mb(process, "VmHWM") - before)
        assert "frame" in str(answer) or answer["kind"] == "frame"
    return taken


async def _begun(client: Any) -> None:
    while (message := await client.get_iopub_msg(timeout=60))["msg_type"] != "execute_input":
        del message


def _reset_peak_mb(process: Path) -> float:
    """The resident memory now, from which the peak is counted again (Linux)."""
    (process / "clear_refs").write_text("5")
    return _status_mb(process, "VmRSS")


def _status_mb(process: Path, name: str) -> float:
    lines = (process / "status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(f"{name}:"))
