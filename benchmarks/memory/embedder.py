"""The embedded embedder as the index uses it: its first query, a query, indexing, and what stays in memory."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

import psutil

from benchmarks.figures import Figure, Group, percentile
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.protocols.retrieval import EmbedderIdentity
from onyx_jupyter.providers.embedders.choice import EmbedderChoice
from onyx_jupyter.providers.embedders.local import IDLE_S, LocalEmbedder
from onyx_jupyter.testing.fake_clock import FakeClock

ROUNDS = 3
QUERIES = 200
CHUNKS = 100
TURNS = 300
METHOD = (
    "Each run is a new process without anything loaded, and the embedder through the choice that the index asks, "
    f"without a cache. The first query loads libraries and model. {QUERIES} queries of nine words, in turn; "
    f"then such queries while passages are indexed. {CHUNKS} chunks of about 380 tokens, of which the first 256 count, "
    f"and {TURNS} turns of about 30 tokens. Memory is the process's resident memory, beside what it had before the "
    "first query."
)
_WORDS = (
    *("spring", "survey", "results", "kernel", "notebook", "table", "column", "budget", "meeting", "draft", "figure"),
    *("model", "training", "loss", "station", "sensor", "rain", "river", "travel", "train", "ticket", "garden"),
    *("recipe", "letter", "version", "branch", "release", "server", "folder", "question", "answer"),
)


def measure() -> Group:
    rounds = [_round() for _ in range(ROUNDS)]

    def of(name: str) -> list[float]:
        return [one[name] for one in rounds]

    return Group(
        "Embedded embedder",
        METHOD,
        [
            Figure("first query, with loading", of("load_s"), "s"),
            Figure("query, median", of("query_ms"), "ms", digits=1),
            Figure("  95th percentile", of("query_p95_ms"), "ms", digits=1),
            Figure("query while passages are indexed, median", of("busy_query_ms"), "ms", digits=1),
            Figure("  95th percentile", of("busy_query_p95_ms"), "ms", digits=1),
            Figure("chunks of 380 tokens", of("chunks_per_s"), "a second", digits=1),
            Figure("turns of 30 tokens", of("turns_per_s"), "a second", digits=0),
            Figure("memory, loaded", of("loaded_mb"), "MB", digits=0),
            Figure("memory, after indexing", of("indexed_mb"), "MB", digits=0),
            Figure("memory, let go when idle", of("idle_mb"), "MB", digits=0),
        ],
    )


def _round() -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.memory.embedder"]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


async def _figures() -> dict[str, float]:
    memory = psutil.Process().memory_info
    before = memory().rss
    clock = FakeClock()
    local = LocalEmbedder(clock)
    choice = EmbedderChoice([local], clock=SystemClock(), redact=str)
    began = time.perf_counter()
    identity = await choice.current()
    if identity is None:
        raise RuntimeError(choice.problem)
    await choice.embed(["which river was it"], "query", identity=identity)
    load_s = time.perf_counter() - began
    figures = {"load_s": load_s, "loaded_mb": (memory().rss - before) / 1e6}
    queries = await _queries(choice, identity, QUERIES, start=0)
    figures |= {"query_ms": percentile(queries, 0.5), "query_p95_ms": percentile(queries, 0.95)}
    figures["chunks_per_s"] = await _speed(choice, identity, [_text(290, number) for number in range(CHUNKS)])
    figures["turns_per_s"] = await _speed(choice, identity, [_text(23, number) for number in range(TURNS)])
    indexing = asyncio.create_task(_speed(choice, identity, [_text(290, -number) for number in range(1, CHUNKS)]))
    busy = await _queries(choice, identity, 30, start=QUERIES)
    figures |= {"busy_query_ms": percentile(busy, 0.5), "busy_query_p95_ms": percentile(busy, 0.95)}
    await indexing
    figures["indexed_mb"] = (memory().rss - before) / 1e6
    clock.advance(IDLE_S)
    await local.unload_if_idle()
    figures["idle_mb"] = (memory().rss - before) / 1e6
    await choice.close()
    return figures


async def _queries(choice: EmbedderChoice, identity: EmbedderIdentity, count: int, *, start: int) -> list[float]:
    """Milliseconds of each."""
    times = []
    for number in range(start, start + count):
        began = time.perf_counter()
        await choice.embed([_text(9, number)], "query", identity=identity)
        times.append((time.perf_counter() - began) * 1000)
    return times


async def _speed(choice: EmbedderChoice, identity: EmbedderIdentity, texts: list[str]) -> float:
    began = time.perf_counter()
    await choice.embed(texts, "passage", identity=identity)
    return len(texts) / (time.perf_counter() - began)


def _text(words: int, number: int) -> str:
    """Words in an order of their own for each number."""
    return " ".join([str(number), *(_WORDS[(number * 7 + place * place) % len(_WORDS)] for place in range(words))])


def main() -> None:
    """One run, as a line of JSON."""
    sys.stdout.write(json.dumps(asyncio.run(_figures())) + "\n")


if __name__ == "__main__":
    main()
