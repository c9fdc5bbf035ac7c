"""When the server is killed, what its commands have started is ended all the same."""

import asyncio
import contextlib
import os
import sys
from pathlib import Path

import psutil

from onyx_jupyter.processes.environment import MARKER_VARIABLE
from onyx_jupyter.processes.process_reaper import ProcessReaper
from tests.features.processes.family import FAMILY, pids_in, running
from tests.waiting import LIMIT_S, until

SERVER = f"""
import asyncio
from pathlib import Path
from onyx_jupyter.processes.process_reaper import ProcessReaper
from onyx_jupyter.processes.run_processes import RunProcesses

async def main():
    processes = RunProcesses(reaper=ProcessReaper())
    await processes.start_background({FAMILY + "wait"!r}, Path.cwd(), "c", 1000)
    await processes.start({FAMILY + "wait"!r}, Path.cwd(), "c", 1000, lambda line: None)
    await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_killed_server_leaves_no_processes(tmp_path: Path) -> None:
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", SERVER, cwd=tmp_path)
    try:
        await until(lambda: len(pids_in(tmp_path)) == 8)
        family = [server.pid, *(child.pid for child in psutil.Process(server.pid).children(recursive=True))]
        assert len(family) > 3, "the reaper and two shells"
    finally:
        server.kill()
        await asyncio.wait_for(server.wait(), LIMIT_S)
    await until(lambda: not any(map(running, [*pids_in(tmp_path), *family])))


async def test_exits_when_nothing_is_guarded_and_restarts(tmp_path: Path) -> None:
    others = reapers()  # of earlier tests, which end when they have nothing to do
    reaper = ProcessReaper(idle_s=0.0)
    await reaper.watch("a" * 32)
    await until(lambda: reapers() - others)  # for a moment after its start a process has no command line
    first = reapers() - others
    assert len(first) == 1
    reaper.release("a" * 32)
    await until(lambda: not any(map(running, first)))
    await reaper.watch("b" * 32)
    await until(lambda: reapers() - others - first)
    (second,) = reapers() - others - first
    reaper.release("b" * 32)
    await reaper.close()
    assert not running(second)


async def test_released_process_is_left_alone(tmp_path: Path) -> None:
    marker = os.urandom(16).hex()
    other = await asyncio.create_subprocess_exec("sleep", "600", env={**os.environ, MARKER_VARIABLE: marker})
    try:
        reaper = ProcessReaper()
        await reaper.watch(marker, other.pid)
        reaper.release(marker)
        await reaper.close()
        assert running(other.pid)
    finally:
        other.kill()
        await other.wait()


def reapers() -> set[int]:
    found = set()
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "onyx_jupyter.processes.process_reaper" in child.cmdline():
                found.add(child.pid)
    return found
