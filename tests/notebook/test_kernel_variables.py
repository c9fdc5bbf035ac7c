"""Looking into real kernels: what is told, and that nothing there changes."""

import asyncio
from typing import Any

import pytest

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook import kernel_inspection as kernel_question
from onyx_jupyter.protocols import KernelVariables, Variable
from tests.notebook.kernels import KernelPlace
from tests.waiting import until


def told(found: KernelVariables) -> dict[str, Variable]:
    return {variable.name: variable for variable in found.variables}


async def look(kernels: KernelPlace, code: str, **more: Any) -> dict[str, Variable]:
    run = await kernels.run(code)
    assert run.status == "ok", run.outputs
    return told(await kernels.service.variables("work.ipynb", **more))


async def test_variables_have_type_and_shape_with_data_first(kernels: KernelPlace) -> None:
    code = """
import numpy as np, pandas as pd
count = 3
names = ["Ada", "Grace"]
array = np.zeros((3, 4), dtype="float32")
frame = pd.DataFrame({"id": [1, 2], "price": [0.5, 1.5]})
def helper(a, b=2): return a
class Model: pass
"""
    found = await look(kernels, code)
    assert list(found) == ["frame", "array", "names", "count"]
    assert found["frame"].summary == "2 × 2: id int64, price float64"
    assert (found["frame"].type, found["frame"].kind) == ("pandas.DataFrame", "frame")
    assert found["frame"].size_bytes is not None
    assert found["array"].summary == "3 × 4 float32"
    assert found["array"].size_bytes == 48
    assert found["names"].summary == "2 entries: ['Ada', 'Grace']"
    assert found["count"].summary == "3"
    whole = await kernels.service.variables("work.ipynb")
    assert (whole.functions, whole.classes, whole.modules) == (1, 1, 2)
    everything = told(await kernels.service.variables("work.ipynb", functions=True))
    assert everything["helper"].summary == "helper(a, b=2)"


async def test_inspection_changes_nothing(kernels: KernelPlace) -> None:
    await kernels.run("import sys\nx = [1, 2]\nx")
    state = "(sorted(globals()), _, __, len(In), dict(Out), get_ipython().execution_count)"
    await kernels.value(state)
    before = await kernels.value(state)
    await kernels.service.variables("work.ipynb", functions=True)
    await kernels.service.inspect("work.ipynb", "x")
    await kernels.service.executed("work.ipynb")
    await kernels.service.lacking("work.ipynb", ["json", "no_such_package"])
    assert await kernels.value(state) == before
    assert await kernels.value("[name for name in sys.modules if 'onyx' in name]") == "[]"
    assert await kernels.value("'trigger' in vars(get_ipython().events)") == "False"


async def test_packages_that_cannot_be_imported_are_found(kernels: KernelPlace) -> None:
    await kernels.run("import sys, types\nsys.modules['by_hand'] = types.ModuleType('by_hand')")
    asked = ["pandas", "wave", "by_hand", "no_such_package"]
    assert await kernels.service.lacking("work.ipynb", asked) == {"no_such_package"}
    assert await kernels.value("'wave' in sys.modules") == "False"


BUSY = """
import time, os
x = 41
print('on', flush=True)
while not os.path.exists('go'): time.sleep(0.01)
print('end')
"""


async def begin(kernels: KernelPlace, code: str) -> "asyncio.Task[Any]":
    """Runs the code as a cell; returns once it has printed its first line."""
    begun = asyncio.Event()
    task = asyncio.ensure_future(kernels.run(code, lambda line: line == "on" and begun.set()))
    await begun.wait()
    return task


async def test_variables_are_listed_while_cell_runs_on(kernels: KernelPlace) -> None:
    await kernels.start()
    task = await begin(kernels, BUSY)
    found = told(await kernels.service.variables("work.ipynb"))
    assert found["x"].summary == "41"
    assert (await kernels.service.inspect("work.ipynb", "x")).summary == "41"
    assert not task.done()
    (kernels.root / "go").touch()
    run = await task
    assert (run.status, [output["text"] for output in run.outputs]) == ("ok", ["on\nend\n"])


async def test_kernel_stays_busy_for_others_while_its_cell_runs(kernels: KernelPlace) -> None:
    await kernels.start()
    kernel = kernels.manager.get_kernel(kernels.kernel_id)
    while kernel.execution_state != "idle":  # until the server hears this kernel
        await kernels.run("pass")
    task = await begin(kernels, BUSY)
    await until(lambda: kernel.execution_state == "busy")
    await kernels.service.variables("work.ipynb")
    heard = await told_states(kernels)
    assert "idle" not in heard
    assert kernel.execution_state == "busy"
    (kernels.root / "go").touch()
    await task
    await until(lambda: kernel.execution_state == "idle")
    await kernels.service.variables("work.ipynb")
    await until(lambda: kernel.execution_state == "idle")


async def told_states(kernels: KernelPlace) -> list[str]:
    """The states that front ends count, as they are told while somebody looks."""
    client = kernels.manager.get_kernel(kernels.kernel_id).client()
    client.start_channels(shell=False, stdin=False, hb=False)
    heard: list[str] = []
    try:
        while True:  # until the output channel is connected, and one look was heard from beginning to end
            await kernels.service.variables("work.ipynb")
            states = []
            while await client.iopub_channel.msg_ready():
                message = await client.get_iopub_msg(timeout=1)
                states.append((message["parent_header"].get("msg_type"), message["content"].get("execution_state")))
            heard += [state for kind, state in states if kind not in kernels.manager.untracked_message_types]
            if ("debug_request", "idle") in states:
                return heard
    finally:
        client.stop_channels()


async def test_figure_of_running_cell_is_unaffected(kernels: KernelPlace) -> None:
    await kernels.run("%matplotlib inline\nimport matplotlib.pyplot as plt")
    task = await begin(kernels, "plt.plot([1, 2])\n" + BUSY + "print(len(plt.gca().lines), 'line')")
    await kernels.service.variables("work.ipynb")
    (kernels.root / "go").touch()
    run = await task
    assert run.outputs[0]["text"] == "on\nend\n1 line\n"
    assert len([output for output in run.outputs if "image/png" in output.get("data", {})]) == 1


@pytest.mark.parametrize("allowed", [True, False])
async def test_running_cell_may_still_request_input(kernels: KernelPlace, allowed: bool) -> None:
    kernel_id = await kernels.start()
    client = kernels.manager.get_kernel(kernel_id).client()
    client.start_channels()
    try:
        await client.wait_for_ready(timeout=60)
        code = BUSY.replace("print('on', flush=True)", "open('on', 'w').close()") + "print(input('Name? '))"
        cell = client.execute(code, allow_stdin=allowed)
        await until(lambda: (kernels.root / "on").exists())
        await kernels.service.variables("work.ipynb")
        (kernels.root / "go").touch()
        if allowed:
            assert (await client.get_stdin_msg(timeout=60))["content"]["prompt"] == "Name? "
            client.input("Ada")
        while (reply := await client.get_shell_msg(timeout=60))["parent_header"]["msg_id"] != cell:
            pass
        assert reply["content"]["status"] == ("ok" if allowed else "error")
        assert reply["content"].get("ename") == (None if allowed else "StdinNotImplementedError")
    finally:
        client.stop_channels()


async def test_thread_output_still_goes_to_starting_cell(kernels: KernelPlace) -> None:
    await kernels.start()
    code = """
import threading, os, time
def later():
    while not os.path.exists('go'): time.sleep(0.01)
    print('from the thread', flush=True)
thread = threading.Thread(target=later); thread.start()
print('on', flush=True)
while not os.path.exists('looked'): time.sleep(0.01)
"""
    task = await begin(kernels, code + "thread.join()")
    (kernels.root / "looked").touch()
    await kernels.service.variables("work.ipynb")
    (kernels.root / "go").touch()
    assert "from the thread" in (await task).outputs[0]["text"]


async def test_pattern_and_limit_select_variables(kernels: KernelPlace) -> None:
    code = "for n in range(20): globals()[f'col_{n}'] = n\nother = 1.5\ndel n\nText = 'a'"
    found = await look(kernels, code, pattern="col_1*")
    assert set(found) == {"col_1", *(f"col_{n}" for n in range(10, 20))}
    assert set(told(await kernels.service.variables("work.ipynb", "TEX"))) == {"Text"}
    few = await kernels.service.variables("work.ipynb", most=3)
    assert [variable.name for variable in few.variables] == ["Text", "other", "col_19"]
    assert few.left_out == {"int": 19}


async def test_secret_looking_names_show_only_type_and_length(kernels: KernelPlace) -> None:
    code = """
api_key = "hunter2-hunter2"
db_password = b"hunter2"
config = {"token": "hunter2", "user": "ada", "nested": {"client_secret": "hunter2"}}
passwords = ["hunter2"]
max_tokens = 512
class Settings: pass
settings = Settings(); settings.password = "hunter2"
def connect(password="hunter2"): pass
import pandas as pd
users = pd.DataFrame({"password": ["hunter2"], "name": ["ada"]})
"""
    found = await look(kernels, code, functions=True)
    assert found["api_key"].summary == "hidden, length 15"
    assert found["api_key"].type == "str"
    assert found["max_tokens"].summary == "512"
    names = ["api_key", "config", "config['nested']", "config['token']", "passwords", "settings", "settings.password"]
    names += ["connect", "users", "users['password']"]
    seen = {name: str(await kernels.service.inspect("work.ipynb", name)) for name in names}
    assert "hunter2" not in f"{seen}{found}"
    assert "ada" in seen["config"]
    assert "ada" in seen["users"]


async def test_secret_looking_arrays_and_tables_show_only_type_and_shape(
    kernels: KernelPlace,
) -> None:
    code = """
import collections
import numpy as np, pandas as pd
password = np.array(["hunter2", "hunter2"])
secret_key = np.frombuffer(b"hunter2", dtype="uint8")
client_secret = np.array("hunter2")
passwords = pd.Series(["hunter2"] * 3)
credentials = pd.DataFrame({"user": ["ada"], "value": ["hunter2"]})
api_keys = collections.deque(["hunter2"])
access_token = type("Token", (), {})(); access_token.value = "hunter2"
store = {"password": np.array(["hunter2"]), "size": 3}
holder = type("Holder", (), {})(); holder.api_key = np.array(["hunter2"])
max_tokens = np.int64(512)
is_token = np.bool_(True)
names = np.array(["ada"])
"""
    found = await look(kernels, code)
    assert found["password"].summary == "hidden, 2"
    assert found["password"].type == "numpy.ndarray"
    assert found["credentials"].summary == "hidden, 1 × 2"
    assert found["passwords"].summary == "hidden, 3"
    assert found["api_keys"].summary == "hidden, length 1"
    assert (found["max_tokens"].summary, found["is_token"].summary) == ("512", "True")
    names = ["password", "secret_key", "client_secret", "passwords", "credentials", "api_keys", "access_token"]
    names += ["access_token.value", "store", "store['password']", "holder", "holder.api_key"]
    seen = {name: str(await kernels.service.inspect("work.ipynb", name)) for name in names}
    assert "hunter2" not in f"{seen}{found}"
    assert "ada" not in seen["credentials"]
    assert "104" not in seen["secret_key"]  # as a number, the first letter
    assert "ada" in str(await kernels.service.inspect("work.ipynb", "names"))


async def test_users_ipython_hooks_do_not_interfere(kernels: KernelPlace) -> None:
    code = """
import ast
shell = get_ipython()
shell.display_formatter.formatters['text/plain'].for_type(str, lambda *a: 1 / 0)
shell.display_formatter.formatters['text/html'].for_type(str, lambda *a: 'x')
calls = []
shell.events.register('post_execute', lambda: calls.append('after'))
exec = eval = len = str = print
x = 41
"""
    found = await look(kernels, code)
    assert found["x"].summary == "41"
    assert (await kernels.run("calls.clear()")).status == "ok"
    before = await kernels.value("calls.copy()")
    await kernels.service.variables("work.ipynb")
    assert before == "['after']"
    assert await kernels.value("calls.copy()") == "['after', 'after']"


async def test_kernels_that_cannot_be_inspected_say_why(kernels: KernelPlace) -> None:
    with pytest.raises(NotebookError, match="no running kernel") as caught:
        await kernels.service.variables("work.ipynb")
    assert caught.value.code == "no_kernel"
    assert not await kernels.server_app.session_manager.list_sessions()
    await kernels.run("x = 1")
    await kernels.service.variables("work.ipynb")
    await kernels.service.restart("work.ipynb")
    assert (await kernels.service.variables("work.ipynb")).variables == ()


async def test_kernel_of_another_language_is_named(kernels: KernelPlace) -> None:
    await kernels.run("x = 1")
    kernels.manager.get_kernel(kernels.kernel_id).kernel_spec.language = "fortran"
    with pytest.raises(NotebookError, match="speaks fortran") as caught:
        await kernels.service.variables("work.ipynb")
    assert caught.value.code == "not_python"


async def test_blocked_kernel_is_busy_and_inspected_later(
    kernels: KernelPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kernels.run("x = 41")
    await kernels.service.variables("work.ipynb")
    monkeypatch.setattr(kernel_question, "_SLACK_S", -1.5)
    holds = """
import ctypes, os
open('on', 'w').close()
libc = ctypes.PyDLL(None)  # calls without letting go of the interpreter's lock
while not os.path.exists('go'): libc.usleep(200_000)
"""
    task = asyncio.ensure_future(kernels.run(holds))
    await until(lambda: (kernels.root / "on").exists())
    with pytest.raises(NotebookError) as caught:
        await kernels.service.variables("work.ipynb")
    assert caught.value.code == "kernel_busy"
    (kernels.root / "go").touch()
    assert (await task).status == "ok"
    monkeypatch.undo()
    assert told(await kernels.service.variables("work.ipynb"))["x"].summary == "41"
