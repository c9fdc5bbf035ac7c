"""Scratch code, interrupt and restart, in real kernels."""

import asyncio
import os
import signal
import threading
import time
from typing import Any

import pytest
from jupyter_client.channels import HBChannel

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.kernel_run import KernelRun
from tests.notebook.fake_tab import FakeTab, tab_cell
from tests.notebook.kernels import KernelPlace, quiet
from tests.waiting import LIMIT_S, until


async def code_of(awaitable: Any) -> str:
    with pytest.raises(NotebookError) as caught:
        await awaitable
    return caught.value.code


async def test_scratch_code_sees_variables_and_is_not_in_history(kernels: KernelPlace) -> None:
    await kernels.run("x = 41")
    run = await kernels.service.execute("work.ipynb", "x + 1", quiet)
    assert run.status == "ok"
    assert run.outputs[0]["data"]["text/plain"] == "42"
    after = await kernels.run("print(len(In), In[1:])")
    assert after.execution_count == 2
    assert after.outputs[0]["text"] == "3 ['x = 41', 'print(len(In), In[1:])']\n"


async def test_short_run_leaves_no_thread(kernels: KernelPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    await kernels.run("1")
    begin = HBChannel.run

    def late(channel: HBChannel) -> None:
        """As on a machine that has more to do than to begin with this thread."""
        time.sleep(1)
        begin(channel)

    monkeypatch.setattr(HBChannel, "run", late)
    run = await kernels.run("2")  # a thread that fails makes the test fail
    assert run.status == "ok"
    assert not [thread for thread in threading.enumerate() if isinstance(thread, HBChannel)]


async def test_scratch_code_returns_images_and_error(kernels: KernelPlace) -> None:
    await kernels.start()
    picture = "from IPython.display import Image, display; display(Image(b'png', format='png')); 1 / 0"
    run = await kernels.service.execute("work.ipynb", picture, quiet)
    assert run.status == "error"
    assert "image/png" in run.outputs[0]["data"]
    assert run.outputs[-1]["ename"] == "ZeroDivisionError"


async def test_stopping_scratch_code_interrupts_it_and_keeps_variables(kernels: KernelPlace) -> None:
    await kernels.run("x = 1")
    begun = asyncio.Event()
    code = "print('on', flush=True)\nimport time\nwhile True: time.sleep(0.01)"
    task = asyncio.ensure_future(
        kernels.service.execute("work.ipynb", code, lambda line: line == "on" and begun.set())  # type: ignore[func-returns-value]
    )
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await kernels.value("x") == "1"


async def test_silent_cell_reports_running_periodically(kernels: KernelPlace) -> None:
    said: list[str] = []
    execution = KernelRun(kernels.manager, await kernels.start(), said.append, elapsed_every_s=0.1)
    task = asyncio.ensure_future(execution.run("import time; time.sleep(600)"))
    await until(lambda: len([line for line in said if line.startswith("Running for")]) >= 3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_restart_clears_variables_and_keeps_session(kernels: KernelPlace) -> None:
    await kernels.run("x = 1")
    before = await kernels.server_app.session_manager.list_sessions()
    await kernels.service.restart("work.ipynb")
    after = await kernels.server_app.session_manager.list_sessions()
    assert [(s["id"], s["kernel"]["id"]) for s in before] == [(s["id"], s["kernel"]["id"]) for s in after]
    assert await kernels.value("'x' in globals()") == "False"
    assert (await kernels.run("1")).execution_count == 1


async def test_run_interrupted_by_restart_is_told(kernels: KernelPlace) -> None:
    await kernels.start()
    begun = asyncio.Event()
    task = asyncio.ensure_future(
        kernels.run("print('on', flush=True)\nimport time\ntime.sleep(600)", lambda line: line == "on" and begun.set())
    )
    await begun.wait()
    await kernels.service.restart("work.ipynb")
    assert await code_of(task) == "kernel_died"


async def test_missing_kernel_is_reported_and_none_is_started(kernels: KernelPlace) -> None:
    service = kernels.service
    assert await code_of(service.execute("work.ipynb", "1", quiet)) == "no_kernel"
    assert await code_of(service.restart("nowhere.ipynb")) == "no_kernel"
    assert not await kernels.server_app.session_manager.list_sessions()


async def test_dead_kernel_is_recognized_and_restart_revives_it(kernels: KernelPlace) -> None:
    await kernels.run("x = 1")
    kernel = kernels.manager.get_kernel(kernels.kernel_id)
    kernel.stop_restarter()  # else Jupyter brings it back by itself
    os.kill(kernel.provisioner.pid, signal.SIGKILL)
    await until(lambda: kernel.provisioner.process.poll() is not None)
    assert await code_of(kernels.service.execute("work.ipynb", "1", quiet)) == "kernel_dead"
    await kernels.service.restart("work.ipynb")
    assert await kernels.value("'x' in globals()") == "False"


async def test_concurrent_runs_in_one_kernel_get_their_own_outputs(kernels: KernelPlace) -> None:
    await kernels.start()
    code = "import time\nprint({0!r}, flush=True)\ntime.sleep(0.3)\nprint({0!r})"
    first, second = await asyncio.gather(kernels.run(code.format("one")), kernels.run(code.format("two")))
    assert [run.outputs[0]["text"] for run in (first, second)] == ["one\none\n", "two\ntwo\n"]


@pytest.mark.parametrize("how", ["fails", "is stopped"])
async def test_failing_code_keeps_users_queued_cells(kernels: KernelPlace, how: str) -> None:
    await kernels.start()
    begun = asyncio.Event()
    flag = kernels.root / "go"
    code = f"print('on', flush=True)\nimport os, time\nwhile not os.path.exists({str(flag)!r}): time.sleep(0.01)\n1 / 0"
    async with kernels.person() as person:
        task = asyncio.ensure_future(
            kernels.service.execute("work.ipynb", code, lambda line: line == "on" and begun.set())  # type: ignore[func-returns-value]
        )
        await begun.wait()
        queued = [person.press(f"x = {n}") for n in range(3)]
        if how == "fails":
            flag.touch()
            assert (await task).status == "error"
        else:
            task.cancel()
            await asyncio.wait({task})
        assert [await person.ended(one) for one in queued] == ["ok", "ok", "ok"]
    assert await kernels.value("x") == "2"


async def test_stop_spares_users_earlier_cell_and_ends_run_when_it_starts(
    kernels: KernelPlace,
) -> None:
    flag = kernels.root / "go"
    code = f"import os, time\nwhile not os.path.exists({str(flag)!r}): time.sleep(0.01)"
    pressed = ""

    class Overtaken(KernelRun):
        async def _wait_for_turn(self, client: Any) -> None:
            nonlocal pressed
            await super()._wait_for_turn(client)
            pressed = person.press(code)
            kernel = kernels.manager.get_kernel(kernels.kernel_id)
            await until(lambda: kernel.execution_state == "busy")

    await kernels.start()
    async with kernels.person() as person:
        told = asyncio.Event()
        execution = Overtaken(kernels.manager, kernels.kernel_id, lambda line: told.set(), elapsed_every_s=0.1)
        task = asyncio.ensure_future(execution.run("import time\ntime.sleep(600)"))
        await until(lambda: bool(pressed))
        told.clear()
        await told.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        flag.touch()
        assert await person.ended(pressed) == "ok"
        async with asyncio.timeout(LIMIT_S):
            assert await kernels.value("1 + 1") == "2"


async def test_two_hundred_megabytes_of_output_are_truncated(kernels: KernelPlace) -> None:
    await kernels.start()
    code = "from IPython.display import HTML\nfor _ in range(20): print('x' * 5_000_000)\nHTML('y' * 100_000_000)"
    run = await kernels.service.execute("work.ipynb", code, quiet)
    assert run.status == "ok"
    assert len(run.outputs[0]["text"]) < 5_000_100
    assert "characters were left out" in run.outputs[1]["data"]["text/plain"]
    assert await kernels.value("1 + 1") == "2"


async def test_tab_with_open_notebook_restarts_its_kernel(kernels: KernelPlace) -> None:
    await kernels.run("x = 1")
    tab = FakeTab(kernels.tabs)
    tab.show("work.ipynb", [tab_cell("a", "x = 1")])
    await kernels.service.restart("work.ipynb")
    assert [(asked.action, asked.params) for asked in tab.asked] == [("notebook.restart", {"path": "work.ipynb"})]
    assert await kernels.value("x") == "1"  # nobody else did it as well


async def test_server_restarts_kernel_if_tab_cannot(kernels: KernelPlace) -> None:
    await kernels.run("x = 1")
    tab = FakeTab(kernels.tabs)
    tab.show("work.ipynb", [tab_cell("a", "x = 1")])
    tab.notebooks.clear()  # closed in the tab, which has not said so yet
    await kernels.service.restart("work.ipynb")
    assert len(tab.asked) == 1
    assert await kernels.value("'x' in globals()") == "False"


async def test_server_side_stop_interrupts_busy_kernel_and_spares_idle_one(
    kernels: KernelPlace,
) -> None:
    await kernels.sessions.interrupt("nowhere.ipynb")
    await kernels.run("x = 1")
    begun = asyncio.Event()
    task = asyncio.ensure_future(
        kernels.run("print('on', flush=True)\nimport time\ntime.sleep(600)", lambda line: line == "on" and begun.set())
    )
    await begun.wait()
    await kernels.sessions.interrupt("work.ipynb")
    assert (await task).outputs[-1]["ename"] == "KeyboardInterrupt"
    asked: list[str] = []
    kernels.manager.interrupt_kernel = asked.append
    kernels.manager.get_kernel(kernels.kernel_id).execution_state = "idle"  # the server may not have heard it yet
    await kernels.sessions.interrupt("work.ipynb")
    assert asked == []
    assert await kernels.value("x") == "1"
