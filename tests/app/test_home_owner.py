"""Of the servers on one home one does what must be done once; when it goes, however it goes, the next one does."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from onyx_jupyter.app.container import Container
from onyx_jupyter.app.home_owner import HomeOwner
from onyx_jupyter.operations.feature import Built, Feature
from tests.waiting import until

LOOK_S = 0.05
HOLDS_IT = """
import asyncio, sys
from pathlib import Path
from onyx_jupyter.app.home_owner import HomeOwner

async def main():
    async def begin():
        print("begun", flush=True)
    owner = HomeOwner(Path(sys.argv[1]), begin, poll_s=1)
    await owner.start()
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "owner.lock"


def counted(lock: Path) -> tuple[HomeOwner, list[str]]:
    begun: list[str] = []

    async def begin() -> None:
        begun.append("begun")

    return HomeOwner(lock, begin, poll_s=LOOK_S), begun


async def test_first_server_owns_home_immediately_and_once(lock: Path) -> None:
    owner, begun = counted(lock)
    await asyncio.gather(owner.start(), owner.start())
    await owner.start()
    assert (owner.is_owner, begun) == (True, ["begun"])
    await owner.close()
    assert not owner.is_owner


async def test_next_server_takes_over_when_first_has_gone(lock: Path) -> None:
    (first, _), (second, begun) = counted(lock), counted(lock)
    await first.start()
    await second.start()
    await asyncio.sleep(3 * LOOK_S)
    assert (second.is_owner, begun) == (False, [])
    await first.close()
    await until(lambda: begun == ["begun"])
    assert second.is_owner
    await second.close()


async def test_killed_server_releases_home(lock: Path) -> None:
    command = (sys.executable, "-c", HOLDS_IT, str(lock))
    holder = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"begun\n"
    owner, begun = counted(lock)
    await owner.start()
    assert begun == []
    holder.send_signal(signal.SIGKILL)
    await holder.wait()
    await until(lambda: begun == ["begun"])
    await owner.close()


async def test_waiting_server_can_be_closed_without_starting(lock: Path) -> None:
    (first, _), (second, begun) = counted(lock), counted(lock)
    await first.start()
    await second.start()
    await second.close()
    await first.close()
    await asyncio.sleep(3 * LOOK_S)
    assert begun == []
    await second.start()
    assert not second.is_owner


async def test_unwritable_home_has_no_owner_and_blocks_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    owner, begun = counted(tmp_path / "file" / "owner.lock")
    await owner.start()
    assert (owner.is_owner, begun) == (False, [])
    await owner.close()


async def test_failed_feature_does_not_prevent_others_from_starting() -> None:
    begun: list[str] = []

    def begins(name: str) -> Callable[..., Built]:
        async def begin() -> None:
            begun.append(name)
            if name == "b":
                raise ValueError("no")

        return lambda parts: Built(begin_as_owner=begin)

    container = Container([Feature(name, begins(name)) for name in "abc"], {})
    await container.start()
    assert begun == []
    await container.begin_as_owner()
    assert begun == ["a", "b", "c"]
    await container.close()
