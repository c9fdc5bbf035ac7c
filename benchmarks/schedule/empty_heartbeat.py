"""What a heartbeat costs whose HEARTBEAT.md holds only headings."""

from __future__ import annotations

import asyncio
import time

from benchmarks.figures import Figure, Group, percentile
from benchmarks.house import House, house
from onyx_jupyter.features.schedule.heartbeats import FILE, HEARTBEATS, heartbeat_of
from onyx_jupyter.operations.keys import AGENTS, CONFIGURED
from onyx_jupyter.testing.scripted_model import ScriptedModel, ScriptedModels

SESSIONS = 300
BEATS = 500
ASKING_BEATS = 60
WARM_UP = 10
LIMIT_MS = 5.0
EMPTY = "# Look after\n\n## Every morning\n\n<!-- one line a task -->\n\n## Every week\n"
METHOD = (
    f"An agent with {SESSIONS} sessions and a HEARTBEAT.md of headings and a comment. A beat is the whole of it, "
    "from the moment that it is due: whether it may happen now, the file, and what follows from it. Tokens are "
    "those of the usage ledger. Beside it a beat with one task, which a scripted model answers with nothing to "
    f"say, in a session that is made for it and deleted. {BEATS} beats of the one, {ASKING_BEATS} of the other."
)


def measure() -> Group:
    model = ScriptedModel(lambda request: "HEARTBEAT_OK", model_id="openai/scripted")
    empty_ms, asking_ms, requests, tokens = asyncio.run(_measure(model))
    p50 = percentile(empty_ms, 0.5)
    return Group(
        "Empty heartbeats",
        METHOD,
        [
            Figure(f"requests to a model in {BEATS} empty beats", [requests], "", 0, digits=0),
            Figure("  tokens", [tokens], "", 0, digits=0),
            Figure("an empty beat, p95", [percentile(empty_ms, 0.95)], "ms", LIMIT_MS),
            Figure("  p50", [p50], "ms"),
            Figure("  a beat with one task ÷ an empty one, p50", [percentile(asking_ms, 0.5) / p50], "×", digits=1),
        ],
    )


async def _measure(model: ScriptedModel) -> tuple[list[float], list[float], int, int]:
    configuration = {"agents": {"defaults": {"model": model.id}}, "heartbeat": {"intervalMs": 86_400_000}}
    async with house(configuration, lambda _: ScriptedModels(model), list) as one:
        for _ in range(SESSIONS):
            await one.session()
        file = one.onyx.get(AGENTS).agent(None).workspace / FILE
        file.write_text(EMPTY)
        empty_ms = await _beats(one, BEATS)
        requests, tokens = len(model.requests), _tokens(one)
        file.write_text(f"{EMPTY}- See whether the newest measurements are there.\n")
        asking_ms = await _beats(one, ASKING_BEATS)
        if len(model.requests) != requests + ASKING_BEATS + WARM_UP:
            raise RuntimeError(f"{len(model.requests)} requests")
    return empty_ms, asking_ms, requests, tokens


async def _beats(one: House, count: int) -> list[float]:
    heartbeats, config = one.onyx.get(HEARTBEATS), one.onyx.get(CONFIGURED).settings.config
    agent = config.agents.items[0]
    taken_ms = []
    for _ in range(count + WARM_UP):
        began = time.perf_counter()
        await heartbeats._beat(agent.id, heartbeat_of(config, agent))
        taken_ms.append(1000 * (time.perf_counter() - began))
    return taken_ms[WARM_UP:]


def _tokens(one: House) -> int:
    ledger = one.onyx.get(CONFIGURED).meter.ledger
    calls = [call for path in ledger.files() for _, call in ledger.calls(path) if call]
    return sum(call.usage.input_tokens + call.usage.output_tokens for call in calls)
