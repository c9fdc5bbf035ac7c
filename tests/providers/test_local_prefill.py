"""Prefilling prompts, without a model: once, one at a time, yielding to questions."""

from __future__ import annotations

import asyncio

import pytest

from onyx_jupyter.providers.local_prefill import LocalPrefill


class Readings:
    """Each reading goes on until it is `released`; `begun` and `ended` are told by their prompts."""

    def __init__(self) -> None:
        self.ahead = LocalPrefill()
        self.released = asyncio.Event()
        self.begun: list[str] = []
        self.ended: list[str] = []

    def read(self, prompt: str) -> asyncio.Task[None]:
        return asyncio.create_task(self.ahead.read(prompt, self._reading(prompt)))

    async def _reading(self, prompt: str) -> bool:
        self.begun.append(prompt)
        await self.released.wait()
        self.ended.append(prompt)
        return True


@pytest.fixture
def readings() -> Readings:
    return Readings()


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_same_prompt_is_prefilled_once(readings: Readings) -> None:
    first, second = readings.read("a"), readings.read("a")
    await turns()
    readings.released.set()
    await asyncio.gather(first, second)
    await readings.read("a")
    assert readings.ended == readings.begun == ["a"]


async def test_new_prefill_replaces_the_one_in_progress(readings: Readings) -> None:
    first = readings.read("a")
    await turns()
    second = readings.read("b")
    await first
    readings.released.set()
    await second
    assert (readings.begun, readings.ended) == (["a", "b"], ["b"])


async def test_interrupted_prefill_is_repeated_also_after_process_end(readings: Readings) -> None:
    first = readings.read("a")
    await turns()
    readings.ahead.interrupt_prefill()
    await first
    assert readings.ended == []
    readings.released.set()
    await readings.read("a")
    readings.ahead.forget()
    await readings.read("a")
    assert readings.ended == ["a", "a"]


async def test_start_is_shared_and_outlives_its_callers(readings: Readings) -> None:
    started: list[int] = []

    async def start() -> None:
        await readings.released.wait()
        started.append(1)

    first, second = (asyncio.create_task(readings.ahead.start(start())) for _ in range(2))
    await turns()
    first.cancel()
    await asyncio.wait({first})
    readings.released.set()
    await second
    assert started == [1]


async def test_close_ends_start_in_progress(readings: Readings) -> None:
    starting = asyncio.create_task(readings.ahead.start(readings._reading("a")))  # type: ignore[arg-type]
    await turns()
    await readings.ahead.close()
    await asyncio.wait({starting})
    assert (readings.begun, readings.ended, starting.cancelled()) == (["a"], [], True)
