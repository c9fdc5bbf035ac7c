"""A server that ends while it still loads what its first answer will need."""

import asyncio
from pathlib import Path

from onyx_jupyter.app.features import FEATURES
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import INDEX_PROCESS, WARM_UP
from tests.runs.house import House


async def test_nothing_starts_after_close(tmp_path, monkeypatch):
    house = House(tmp_path, [])
    loading, never = asyncio.Event(), asyncio.Event()

    async def load() -> None:
        loading.set()
        await never.wait()

    await house.onyx.ready()
    monkeypatch.setattr(house.models, "warm", load)
    house.onyx.get(WARM_UP).begin()
    await loading.wait()
    await house.close()
    assert house.onyx.get(INDEX_PROCESS).process_id is None
    assert [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("onyx")] == []


async def test_next_server_begins_only_when_this_ones_background_work_has_ended(tmp_path: Path) -> None:
    owned_at_close: list[bool] = []

    async def close() -> None:
        owned_at_close.append(house.onyx._owner.is_owner)

    house = House(tmp_path, features=[*FEATURES, Feature("last", lambda parts: Built(close=close))])
    await house.onyx.ready()
    await house.close()
    assert (owned_at_close, house.onyx._owner.is_owner) == ([True], False)
