"""How long Stop takes: to the end of the run, of the provider's connection, and of a command with all it started."""

from __future__ import annotations

import time
import uuid

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
    "The command is a shell with two children; the stubborn one ignores SIGTERM in all three."
)


def measure() -> Group:
    streaming, silent, commands, stubborn = [], [], [], []
    with (
        ProviderProcess() as provider,
        JupyterProcess(configuration=provider.configuration) as server,
        SocketClient(server.port, server.token) as client,
    ):
        for _ in range(ROUNDS):
            streaming.append(_stop_answer(client, provider, "stamps 100000 100", "chat.delta"))
            silent.append(_stop_answer(client, provider, "silence", "chat.started"))
            commands.append(_stop_command(client, "sleep 60"))
            stubborn.append(_stop_command(client, "trap '' TERM; sleep 60"))
    return Group(
        "Stop",
        METHOD,
        [
            *_pair("a streaming answer", streaming, "provider's connection closed"),
            *_pair("an answer that has not begun", silent, "provider's connection closed"),
            *_pair("`exec sleep 60` with children", commands, "all processes gone"),
            *_pair("the same, ignoring SIGTERM", stubborn, "all processes gone"),
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
