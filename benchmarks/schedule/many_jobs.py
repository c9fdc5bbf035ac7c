"""What ten thousand jobs cost a server at rest, how late one of them starts, and how long their list takes."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from benchmarks.figures import Figure, Group, percentile
from benchmarks.jupyter_process import JupyterProcess
from benchmarks.schedule.made_jobs import MANY, due_jobs, quiet_jobs, write_jobs
from benchmarks.socket_client import SocketClient

ROUNDS = 3
SETTLE_S = 15.0
IDLE_S = 45.0
IDLE_PERCENT = 0.5
DUE = 60
BETWEEN_S = 0.5
AT_ONCE = 100
START_S = 45.0
"""A scheduler at rest sees an edited file within 30 s."""
LATE_MS = 1000.0
PAGE = 100
PAGE_MS = 300.0
LISTINGS = 60
WARM_UP = 5
FEW = 100
METHOD = (
    f"A `jupyter server` on a home with {MANY:,} jobs, a third of each kind, none of them due for hours, beside "
    f"the same server without jobs, in turn. At rest: user and system time of the process over {IDLE_S:g} s, "
    f"{SETTLE_S:g} s after the start, with nobody connected any more. Late: {DUE} more jobs, one each {BETWEEN_S:g} s, "
    f"and {AT_ONCE} at the same moment, each with a decided call and no model; from the planned moment to the line of "
    "the log that says that it starts, which is on disk before anything runs, and to the message in its session. "
    f"Listing: `schedule.list` on the socket, the first {PAGE} jobs, as a panel asks that is opened, {LISTINGS} "
    "times one after the other."
)


@dataclass
class _Taken:
    idle: list[float] = field(default_factory=list)
    idle_without: list[float] = field(default_factory=list)
    late_ms: list[float] = field(default_factory=list)
    begun_ms: list[float] = field(default_factory=list)
    at_once_ms: list[float] = field(default_factory=list)
    at_once_begun_ms: list[float] = field(default_factory=list)
    first_list_ms: list[float] = field(default_factory=list)
    list_ms: list[float] = field(default_factory=list)
    list_few_ms: list[float] = field(default_factory=list)


def measure() -> Group:
    taken = _Taken()
    for number in range(ROUNDS):
        for count in (MANY, 0) if number % 2 else (0, MANY):
            (taken.idle if count else taken.idle_without).append(_idle_percent(count))
        _run_due(taken)
    taken.list_few_ms = _listings(FEW)[WARM_UP:]
    added = [with_ - without for with_, without in zip(taken.idle, taken.idle_without, strict=True)]
    return Group(
        "Scheduled jobs",
        METHOD,
        [
            Figure(f"at rest with {MANY:,} jobs, share of a core", taken.idle, "%", IDLE_PERCENT, digits=3),
            Figure("  without jobs", taken.idle_without, "%", digits=3),
            Figure("  difference", added, "%", digits=3),
            *_late("a due job starts after, p50", taken.late_ms, LATE_MS),
            *_late("  its message is in its session after, p50", taken.begun_ms),
            *_late(f"{AT_ONCE} due at the same moment start after, p50", taken.at_once_ms, LATE_MS),
            *_late("  their messages are in their sessions after, p50", taken.at_once_begun_ms),
            Figure(
                f"first {PAGE} of {MANY:,} jobs on the socket, p95", [percentile(taken.list_ms, 0.95)], "ms", PAGE_MS
            ),
            Figure("  p50", [percentile(taken.list_ms, 0.5)], "ms"),
            Figure("  the first time after the start", taken.first_list_ms, "ms"),
            Figure(f"  p50 with {FEW} jobs", [percentile(taken.list_few_ms, 0.5)], "ms"),
            Figure(
                f"  {MANY:,} jobs ÷ {FEW} jobs",
                [percentile(taken.list_ms, 0.5) / percentile(taken.list_few_ms, 0.5)],
                "×",
            ),
        ],
    )


def _late(name: str, late_ms: Sequence[float], limit_ms: float | None = None) -> list[Figure]:
    indent = " " * (len(name) - len(name.lstrip()) + 2)
    return [
        Figure(name, [percentile(late_ms, 0.5)], "ms", digits=0),
        Figure(f"{indent}p95", [percentile(late_ms, 0.95)], "ms", digits=0),
        Figure(f"{indent}the latest", [max(late_ms)], "ms", limit_ms, digits=0),
    ]


def _idle_percent(count: int) -> float:
    with JupyterProcess(configuration={}) as server:
        write_jobs(server.home / "schedule", quiet_jobs(count, datetime.now(UTC)))
        server.restart()
        with SocketClient(server.port, server.token) as client:  # loads what a server without jobs would never load
            client.call("schedule.list", limit=PAGE)
        time.sleep(SETTLE_S)
        began, cpu_s = time.monotonic(), server.cpu_s()
        time.sleep(IDLE_S)
        return 100 * (server.cpu_s() - cpu_s) / (time.monotonic() - began)


def _run_due(taken: _Taken) -> None:
    quiet = quiet_jobs(MANY, datetime.now(UTC))
    with JupyterProcess(configuration={}) as server:
        (server.root / "notes.txt").write_text("All quiet.\n")
        write_jobs(server.home / "schedule", quiet)
        server.restart()
        with SocketClient(server.port, server.token) as client:
            taken.first_list_ms.append(_list_ms(client))
            taken.list_ms += [_list_ms(client) for _ in range(LISTINGS)][WARM_UP:]
        now = datetime.now(UTC)
        first = now + timedelta(seconds=START_S)
        moments = [first + timedelta(seconds=BETWEEN_S * number) for number in range(DUE)]
        together = [moments[-1] + timedelta(seconds=5)] * AT_ONCE
        write_jobs(server.home / "schedule", [*quiet, *due_jobs([*moments, *together], now)])
        ends = _wait_for_ends(server, DUE + AT_ONCE)
    for started, begun in ends[:DUE]:
        taken.late_ms.append(started)
        taken.begun_ms.append(begun)
    for started, begun in ends[DUE:]:
        taken.at_once_ms.append(started)
        taken.at_once_begun_ms.append(begun)


def _wait_for_ends(server: JupyterProcess, count: int) -> list[tuple[float, float]]:
    """Milliseconds from the planned moment to the start in the log, and to the message, in the order of the jobs."""
    path = server.home / "schedule" / "runs.jsonl"
    deadline = time.monotonic() + 300
    lines: list[dict[str, str]] = []
    while sum(line["kind"] == "finished" for line in lines) < count:
        if time.monotonic() > deadline:
            raise RuntimeError(f"Only {len(lines)} lines: {server.log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.5)
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    if wrong := [line for line in lines if line["kind"] == "missed" or line.get("outcome", "ok") != "ok"]:
        raise RuntimeError(str(wrong[0]))
    begun = {line["job"]: line for line in lines if line["kind"] == "started"}
    ended = {line["job"]: line for line in lines if line["kind"] == "finished"}
    found: list[tuple[float, float]] = []
    for number in range(count):
        planned = datetime.fromisoformat(begun[f"due-{number}"]["planned"])
        started = datetime.fromisoformat(begun[f"due-{number}"]["at"])
        said = _first_message(server, ended[f"due-{number}"]["sessionKey"])
        found.append((_ms(started - planned), _ms(said - planned)))
    return found


def _ms(span: timedelta) -> float:
    return 1000 * span.total_seconds()


def _first_message(server: JupyterProcess, session_key: str) -> datetime:
    (path,) = server.home.glob(f"sessions/*/{session_key}.jsonl")
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return datetime.fromisoformat(next(line["ts"] for line in lines if line["role"] == "user"))


def _listings(count: int) -> list[float]:
    with JupyterProcess(configuration={}) as server:
        write_jobs(server.home / "schedule", quiet_jobs(count, datetime.now(UTC)))
        server.restart()
        with SocketClient(server.port, server.token) as client:
            return [_list_ms(client) for _ in range(LISTINGS)]


def _list_ms(client: SocketClient) -> float:
    began = time.perf_counter()
    listed = client.call("schedule.list", limit=PAGE)
    taken_ms = 1000 * (time.perf_counter() - began)
    if len(listed["jobs"]) != PAGE:
        raise RuntimeError(f"{len(listed['jobs'])} jobs of {listed['total']}")
    return taken_ms
