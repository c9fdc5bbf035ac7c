"""The prompt cache of a model process, by numbers of tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest

from onyx_jupyter.clock import SystemClock
from onyx_jupyter.messages import Message, Usage
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.local_model import LocalModel
from onyx_jupyter.providers.local_server import LocalServer
from onyx_jupyter.providers.local_server_pool import LocalServerPool
from onyx_jupyter.providers.local_weights import Weights
from onyx_jupyter.testing.collected import collect
from tests.local_model import LOCAL_MODEL_MARKS, MODEL
from tests.waiting import until

pytestmark = LOCAL_MODEL_MARKS
CONTEXT_TOKENS = 8192
PENGUINS = "A row tells of a penguin: its species, its island, the length of its bill and its mass in grams. " * 5
CUSTOMERS = "A row tells of a customer: the contract, the months until now, the monthly fee and the calls. " * 5
NEW_TOKENS = 40


class House:
    def __init__(self, file: Path, saved_in: Path) -> None:
        self.saved_in = saved_in
        self.servers = LocalServerPool(idle_timeout_s=600, threads=2, clock=SystemClock(), saved_in=saved_in)
        self.weights = Weights(MODEL.name, file, CONTEXT_TOKENS)
        self.model = LocalModel(MODEL.id, self.weights, self.servers)

    @property
    def server(self) -> LocalServer:
        return self.servers.server(self.weights)

    @property
    def processes(self) -> list[psutil.Process]:
        return [one for one in psutil.Process().children() if "local_server_process" in " ".join(one.cmdline())]

    async def until_it_reads(self) -> None:
        process = psutil.Process(self.server.pid)
        begun_s = sum(process.cpu_times()[:2])
        await until(lambda: sum(process.cpu_times()[:2]) > begun_s + 0.2)

    async def usage(self, facts: str, question: str) -> Usage:
        """What one short answer took."""
        request = ModelRequest("You help.", [Message("user", f"{facts}\n\n{question}")], max_tokens=2)
        return (await collect(self.model.stream(request))).done.usage


@pytest.fixture
def house(jp_asyncio_loop: asyncio.AbstractEventLoop, shortened_file: Path, tmp_path: Path) -> Iterator[House]:
    house = House(shortened_file, tmp_path / "cache")
    yield house
    jp_asyncio_loop.run_until_complete(house.servers.close())


def read(usage: Usage) -> int:
    return usage.input_tokens - (usage.cached_tokens or 0)


async def test_alternating_conversations_prefill_only_new_text(house: House) -> None:
    first = [await house.usage(PENGUINS, "Which is the heaviest?"), await house.usage(CUSTOMERS, "Who pays most?")]
    again = [await house.usage(PENGUINS, "How many are there?"), await house.usage(CUSTOMERS, "Who calls most?")]
    assert all(read(usage) > 2 * NEW_TOKENS for usage in first)
    assert all(read(usage) < NEW_TOKENS for usage in again)


async def test_latest_prompt_is_restored_after_restart_and_file_deleted(house: House) -> None:
    await house.usage(PENGUINS, "Which is the heaviest?")
    await house.usage("", "Hello.")  # what an answer is written from is short, and comes last
    await house.servers.close()
    assert sorted(path.suffix for path in house.saved_in.iterdir()) == [".json", ".state"]
    assert read(await house.usage(PENGUINS, "How many are there?")) < NEW_TOKENS
    assert list(house.saved_in.iterdir()) == []


async def test_broken_file_costs_only_prefill_time(house: House) -> None:
    await house.usage(PENGUINS, "Which is the heaviest?")
    await house.servers.close()
    (state,) = house.saved_in.glob("*.state")
    state.write_bytes(state.read_bytes()[:-1000])
    assert read(await house.usage(PENGUINS, "How many are there?")) > 2 * NEW_TOKENS
    assert list(house.saved_in.iterdir()) == []


async def test_question_during_idle_shutdown_is_answered(house: House) -> None:
    await house.usage(PENGUINS, "Which is the heaviest?")
    _, usage = await asyncio.gather(house.server.stop_if_idle(0.0), house.usage(PENGUINS, "How many are there?"))
    assert usage.output_tokens > 0


async def test_prefilled_text_is_not_read_again(house: House) -> None:
    await house.model.prefill(ModelRequest("You help.", [Message("user", PENGUINS)]))
    assert house.server.running
    assert read(await house.usage(PENGUINS, "Which is the heaviest?")) < NEW_TOKENS


async def test_prefill_yields_to_question_and_keeps_progress(house: House) -> None:
    await house.usage("", "Hello.")
    long = PENGUINS * 50  # some 6,000 tokens: seconds of reading, also on a fast machine
    reading = asyncio.create_task(house.model.prefill(ModelRequest("You help.", [Message("user", long)])))
    await house.until_it_reads()
    assert (await house.usage(CUSTOMERS, "Who pays most?")).output_tokens > 0
    assert reading.done()
    whole = await house.usage(long, "Which is the heaviest?")
    assert NEW_TOKENS < (whole.cached_tokens or 0) < whole.input_tokens - NEW_TOKENS


async def test_nothing_is_prefilled_during_a_question(house: House) -> None:
    async with aclosing(house.model.stream(ModelRequest("You help.", [Message("user", "Count to a hundred.")]))) as it:
        await anext(it)
        await house.model.prefill(ModelRequest("You help.", [Message("user", PENGUINS)]))
    assert read(await house.usage(PENGUINS, "Which is the heaviest?")) > 2 * NEW_TOKENS


async def test_start_continues_when_its_prefill_yields(house: House) -> None:
    reading = asyncio.create_task(house.model.prefill(ModelRequest("You help.", [Message("user", PENGUINS)])))
    await asyncio.sleep(0)
    reading.cancel()
    await asyncio.wait({reading})
    assert (await house.usage("", "Hello.")).output_tokens > 0
    assert len(house.processes) == 1


async def test_model_answers_if_nothing_can_be_stored(house: House) -> None:
    house.saved_in.write_text("a file stands where the folder belongs")
    assert (await house.usage(PENGUINS, "Which is the heaviest?")).output_tokens > 0
    await house.servers.close()
    assert house.saved_in.is_file()
