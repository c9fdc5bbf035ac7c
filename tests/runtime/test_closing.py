"""A server that ends while it still loads what its first answer will need."""

import asyncio

import pytest

from tests.runtime.house import House


async def test_what_was_still_to_begin_begins_no_more_once_it_is_closed(tmp_path, monkeypatch):
    house = House(tmp_path, [])
    loading, never = asyncio.Event(), asyncio.Event()

    async def load() -> None:
        loading.set()
        await never.wait()

    monkeypatch.setattr(house.models, "warm", load)
    warming = asyncio.create_task(house.onyx.warm())
    await loading.wait()
    await house.close()
    warming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await warming
    assert [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("onyx")] == []
