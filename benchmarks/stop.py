"""How long Stop takes: to the end of the run, of the provider's connection, of a command, and of a cell in a kernel."""

from __future__ import annotations

import json
import time
import uuid

import nbformat
import psutil

from benchmarks.figures import Figure, Group
from benchmarks.jupyter_process import JupyterProcess
from benchmarks.provider import ProviderProcess
from benchmarks.socket_client import SocketClient

ROUNDS = 5
LIMIT_S = 1.0
_POLL_S = 0.005
METHOD = (
    "From the moment `chat.abort` is sent to the moment `chat.aborted` is received, the provider sees its connection "
    "closed, and the last process of the command is gone (looked for every 5 ms, all of them by their arguments). "
    "The command is a shell with two children; the stubborn one ignores SIGTERM in all three. The cell sleeps in the "
    "kernel of a notebook that no tab has open; it is idle when Jupyter says so (asked every 5 ms)."
)
_NOTEBOOK = "sleeps.ipynb"
_SLEEP = "print('on', flush=True)\nimport time; time.sleep(600)"


def measure() -> Group:
    streaming, silent, commands, stubborn, cells = [], [], [], [], []
    with (
        ProviderProcess() as provider,
        JupyterProcess(configuration=provider.configuration) as server,
        SocketClient(server.port, server.token) as client,
    ):
        _make_notebook(client, server)
        for _ in range(ROUNDS):
            streaming.append(_stop_answer(client, provider, "stamps 100000 100", "chat.delta"))
            silent.append(_stop_answer(client, provider, "silence", "chat.started"))
            commands.append(_stop_command(client, "sleep 60"))
            stubborn.append(_stop_command(client, "trap '' TERM; sleep 60"))
            cells.append(_stop_cell(client, server))
    return Group(
        "Stop",
        METHOD,
        [
            *_pair("a streaming answer", streaming, "provider's connection closed"),
            *_pair("an answer that has not begun", silent, "provider's connection closed"),
            *_pair("`exec sleep 60` with children", commands, "all processes gone"),
            *_pair("the same, ignoring SIGTERM", stubborn, "all processes gone"),
            *_pair("a cell that sleeps", cells, "its kernel idle"),
        ],
    )


def _pair(what: str, taken: list[tuple[float, float]], second: str) -> list[Figure]:
    return [
        Figure(f"{what}: chat.aborted", [told for told, _ in taken], "s", LIMIT_S, digits=3),
        Figure(f"{what}: {second}", [done for _, done in taken], "s", LIMIT_S, digits=3),
    ]


def _stop_answer(client: SocketClient, provider: ProviderProcess, question: str, begun: str) -> tuple[float, float]:
    session = client.call("sessions.create")["sessionKey"]
    run_id = client.call("chat.send", sessionKey=session, message=question)["runId"]
    client.wait_for(begun)
    time.sleep(0.5)
    began_ns = time.monotonic_ns()
    client.send("chat.abort", runId=run_id)
    aborted = client.wait_for("chat.aborted")
    return (aborted.at_ns - began_ns) / 1e9, (provider.client_left_ns() - began_ns) / 1e9


def _stop_command(client: SocketClient, command: str) -> tuple[float, float]:
    mark = f"bench{uuid.uuid4().hex}"
    tree = f"{command} {mark}".replace(f"sleep 60 {mark}", f"for i in 1 2; do (exec -a {mark} sleep 60) & done; wait")
    session = client.call("sessions.create")["sessionKey"]
    run_id = client.call("chat.send", sessionKey=session, message=f"exec {tree}")["runId"]
    approval = client.wait_for("exec.approval_request")
    client.call("exec.approve", approvalId=approval.data["approvalId"])
    processes = _processes(mark, expected=3)
    began_ns = time.monotonic_ns()
    client.send("chat.abort", runId=run_id)
    while any(_alive(process) for process in processes):
        time.sleep(_POLL_S)
    gone_ns = time.monotonic_ns()
    aborted = client.wait_for("chat.aborted")
    if left := _find(mark):
        raise RuntimeError(f"Processes of the command were left behind: {left}")
    return (aborted.at_ns - began_ns) / 1e9, (gone_ns - began_ns) / 1e9


def _make_notebook(client: SocketClient, server: JupyterProcess) -> None:
    """With a kernel that has run a cell: Jupyter does not hear what a new one says first."""
    cells = [nbformat.v4.new_code_cell(source, id=name) for name, source in (("first", "1"), ("sleep", _SLEEP))]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), server.root / _NOTEBOOK)
    _run_cell(client, "first")
    client.wait_for("chat.final")


def _stop_cell(client: SocketClient, server: JupyterProcess) -> tuple[float, float]:
    run_id = _run_cell(client, "sleep")
    while client.wait_for("tool.progress").data["message"] != "on":
        continue
    _wait_for_kernel(server, "busy")
    began_ns = time.monotonic_ns()
    client.send("chat.abort", runId=run_id)
    idle_ns = _wait_for_kernel(server, "idle")
    aborted = client.wait_for("chat.aborted")
    return (aborted.at_ns - began_ns) / 1e9, (idle_ns - began_ns) / 1e9


def _run_cell(client: SocketClient, cell_id: str) -> str:
    """The run in which it runs."""
    session = client.call("sessions.create")["sessionKey"]
    run_id: str = client.call("chat.send", sessionKey=session, message=f"cell {_NOTEBOOK} {cell_id}")["runId"]
    approval = client.wait_for("exec.approval_request")
    client.call("exec.approve", approvalId=approval.data["approvalId"])
    return run_id


def _wait_for_kernel(server: JupyterProcess, state: str) -> int:
    """When the only kernel was seen in that state (time.monotonic_ns)."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        (kernel,) = json.loads(server.read("api/kernels"))
        if kernel["execution_state"] == state:
            return time.monotonic_ns()
        time.sleep(_POLL_S)
    raise RuntimeError(f"The kernel did not become {state}.")


def _processes(mark: str, expected: int) -> list[psutil.Process]:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        found = _find(mark)
        if len(found) >= expected:
            return found
        time.sleep(0.05)
    raise RuntimeError("The command did not start.")


def _find(mark: str) -> list[psutil.Process]:
    found = psutil.process_iter(["cmdline"])
    return [item for item in found if mark in " ".join(item.info["cmdline"] or ()) and _alive(item)]


def _alive(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False
