import json
import os
from pathlib import Path

from onyx_jupyter.storage.versions import VersionedFile, VersionStore
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.runs.house import House
from tests.waiting import until

MEMORY = VersionedFile("main", "MEMORY.md")


async def test_first_change_prunes_versions_in_background(tmp_path: Path) -> None:
    config = {"agents": {"defaults": {"model": "scripted/model"}}, "memory": {"maxVersionsBytes": 1_000_000}}
    house = House(tmp_path, config=json.dumps(config))
    grown = VersionStore(house.home.versions, FakeClock())
    for _ in range(60):
        grown.record(MEMORY, os.urandom(30_000), "user")
    await house.onyx.ready()
    assert len(grown.history(MEMORY)) == 60
    await house.onyx.agent(None).memory.write("- Added", "MEMORY.md")
    await until(lambda: len(grown.history(MEMORY)) <= 52)
    await house.close()
    assert grown.read(MEMORY, grown.history(MEMORY)[-1].number).endswith(b"- Added\n")
