"""What one turn with a tool costs besides the model and the tool, and what a long session leaves in memory."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator

import psutil

from benchmarks.figures import Figure, Group, percentile
from benchmarks.house import house
from onyx_jupyter.messages import ToolCall, ToolResult, Usage
from onyx_jupyter.protocols import ModelDone, ModelEvent, ModelRequest, TextDelta
from onyx_jupyter.testing.scripted_model import ScriptedModels
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import tool

ROUNDS = 5
TURNS = 60
LONG_SESSION = 1000
WARM_UP = 20
MODEL_ID = "scripted/model"
METHOD = (
    f"In one process, without a web server: {ROUNDS} sessions of {TURNS} turns, in each of which a scripted model "
    "calls a tool that does nothing. A turn is the time from the model's last word to the next request that it gets: "
    "check, events, processors, audit, and the call and its result each written to the transcript with an fsync. The "
    f"long session is {LONG_SESSION:,} questions, each answered with one tool call, in a process of its own; its "
    f"growth is the resident memory after it less that after the first {WARM_UP} questions."
)


class _Nothing(Arguments):
    turn: int


@tool(name="no_op", arguments=_Nothing, description="Does nothing.", risk="read", family="bench")
async def no_op(arguments: _Nothing, context: ToolContext) -> ToolResult:
    return ToolResult(f"Nothing was done, for the time number {arguments.turn}.")


class _Model:
    """Calls the tool `calls` times in a run, then answers; records times but no requests."""

    light = False
    tiny = False
    context_window = 10_000_000

    def __init__(self, calls: int) -> None:
        self.id = MODEL_ID
        self.turns_ms: list[float] = []
        self._calls = calls
        self._made = 0
        self._done_at: float | None = None
        self._turn = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        if self._done_at is not None and self._made:
            self.turns_ms.append((time.perf_counter() - self._done_at) * 1000)
        self._turn += 1
        if self._made == self._calls:
            self._made = 0
            yield TextDelta("Done.")
            yield ModelDone(usage=Usage(100, 5))
            return
        self._made += 1
        yield TextDelta("I do nothing. ")
        self._done_at = time.perf_counter()
        yield ModelDone((ToolCall(f"call_{self._turn}", "no_op", {"turn": self._turn}),), Usage(100, 5))


def measure() -> Group:
    turns = [asyncio.run(_turns()) for _ in range(ROUNDS)]
    growth = json.loads(subprocess.check_output([sys.executable, "-m", "benchmarks.tool_turn"], text=True))
    return Group(
        "Tool turns",
        METHOD,
        [
            Figure("overhead of a tool turn, p50", [percentile(one, 0.5) for one in turns], "ms", 10),
            Figure("  p95", [percentile(one, 0.95) for one in turns], "ms"),
            Figure(f"resident growth over {LONG_SESSION:,} turns", [growth["growthMb"]], "MB", 50, digits=1),
            Figure("  overhead of its last 100 turns, p50", [growth["lastMs"]], "ms"),
        ],
    )


async def _turns() -> list[float]:
    model = _Model(TURNS)
    configuration = {"agents": {"defaults": {"model": MODEL_ID}}, "runtime": {"maxTurns": TURNS + 1}}
    async with house(configuration, lambda _: ScriptedModels(model), lambda: [no_op]) as one:
        await one.run(await one.session(), "Go")
    return model.turns_ms


async def _long_session() -> dict[str, float]:
    model = _Model(1)
    configuration = {"agents": {"defaults": {"model": MODEL_ID}}}
    async with house(configuration, lambda _: ScriptedModels(model), lambda: [no_op]) as one:
        key = await one.session()
        for number in range(WARM_UP):
            await one.run(key, f"Question {number}")
        before = _resident_mb()
        for number in range(WARM_UP, LONG_SESSION):
            await one.run(key, f"Question {number}")
        growth = _resident_mb() - before
    return {"growthMb": growth, "lastMs": percentile(model.turns_ms[-100:], 0.5)}


def _resident_mb() -> float:
    gc.collect()
    size: int = psutil.Process().memory_info().rss
    return size / 1e6


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_long_session())))
