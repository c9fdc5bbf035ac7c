import asyncio
import logging
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from onyx_jupyter.storage.thread_executor import SerialExecutor, in_thread
from tests.waiting import LIMIT_S, until


async def test_results_and_exceptions_of_work_are_returned() -> None:
    assert await in_thread(lambda: 6 * 7, "test") == 42
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 // 0, "test")


class Panic(BaseException):
    """As native code raises where it meets something that it never expected."""


@pytest.mark.parametrize("error", [Panic("index out of range"), SystemExit("bye"), asyncio.CancelledError()])
async def test_thread_ending_in_any_way_is_reported_and_frees_its_slot(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    def break_down() -> None:
        raise error

    one = SerialExecutor("test")
    async with asyncio.timeout(LIMIT_S):
        with pytest.raises(RuntimeError, match=f"A thread ended with {type(error).__name__}: {error}"):
            await one.run(break_down)
        assert await one.run(lambda: "next") == "next"
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert record.exc_info is not None
    assert record.exc_info[1] is error


async def test_stop_iteration_is_passed_on() -> None:
    async with asyncio.timeout(LIMIT_S):
        with pytest.raises(RuntimeError, match="StopIteration"):
            await in_thread(lambda: next(iter([])), "test")


async def test_failed_thread_start_frees_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    one = SerialExecutor("test")
    with monkeypatch.context() as system:
        system.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start"):
            await one.run(lambda: None)
    assert await one.run(lambda: "next") == "next"


async def test_work_continues_without_free_pool_threads() -> None:
    go = threading.Event()
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    taken = asyncio.create_task(asyncio.to_thread(go.wait))
    try:
        assert await in_thread(lambda: "done", "test") == "done"
        assert not taken.done()
    finally:
        go.set()
        await taken


async def test_queued_work_uses_one_thread_and_runs_in_order() -> None:
    one, go, done = SerialExecutor("onyx waiting"), threading.Event(), list[int]()

    def work(number: int) -> int:
        go.wait()
        done.append(number)
        return number

    waiting = [asyncio.create_task(one.run(lambda number=number: work(number))) for number in range(20)]
    await until(lambda: [thread for thread in threading.enumerate() if thread.name == "onyx waiting"])
    await asyncio.sleep(0)
    assert len([thread for thread in threading.enumerate() if thread.name == "onyx waiting"]) == 1
    go.set()
    assert await asyncio.gather(*waiting) == done == list(range(20))


async def test_cancelled_work_frees_slot_when_its_thread_ends() -> None:
    one, go, begun = SerialExecutor("onyx cancelled"), threading.Event(), list[int]()

    def work(number: int) -> int:
        begun.append(number)
        go.wait()
        return number

    for number in range(5):
        cancelled = asyncio.create_task(one.run(lambda number=number: work(number)))
        await until(lambda: begun)
        await asyncio.sleep(0)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
    last = asyncio.create_task(one.run(lambda: work(5)))
    await asyncio.sleep(0)
    assert [thread.name for thread in threading.enumerate()].count("onyx cancelled") == 1
    go.set()
    assert await last == 5
    assert begun == [0, 5], "who had not begun when it was cancelled never begins"


HANGS = """
import asyncio, threading
from onyx_jupyter.storage import thread_executor

begun, stopped = threading.Event(), threading.Event()

def hang():
    begun.set()
    threading.Event().wait()

def run_until_stopped():
    stopped.wait()
    print("stopped", flush=True)

async def main():
    thread_executor.start_thread(run_until_stopped, "test", stop=stopped.set)
    hanging.append(asyncio.create_task(thread_executor.in_thread(hang, "test")))
    while not begun.is_set():
        await asyncio.sleep(0.01)

hanging = []
thread_executor.END_S = 0.5
asyncio.run(main())
print("ends", flush=True)
"""


def test_process_exits_despite_hanging_work_asking_it_to_stop() -> None:
    ended = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (ended.returncode, ended.stdout) == (0, "ends\nstopped\n"), ended.stderr
