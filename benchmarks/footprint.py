"""What Onyx takes of the machine's memory while it is used: at start, beside an open sidebar, after turns, at rest."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import psutil

from benchmarks.figures import Figure, Group
from benchmarks.jupyter_process import JupyterProcess
from benchmarks.provider import ProviderProcess
from benchmarks.socket_client import SocketClient

ROUNDS = 3
FILL_S = 120.0
TURNS = 11
FILES = 40
# Long enough for whatever a connection sets off in the background to be done.
CONNECTED_S = 15.0
# From the first key of the first message to Enter: a person who writes a sentence.
TYPING_S = 6.0
# In which an answer is read before the next message is sent.
READING_S = 2.0
IDLE_MS = 6_000
# In place of ten minutes: the idle limit, and time for whatever looks at it only now and then.
RESTED_S = 20.0
# In megabytes: with the sidebar open and nothing asked, after the turns, and when nobody has asked for ten minutes.
OPEN_MB, USED_MB, RESTED_MB = 130.0, 330.0, 200.0
SECTIONS = 4
_PEOPLE = ("Ada", "Solveig", "Mo", "Noor", "Ines", "Jon")
_PLACES = ("Oslo", "Bergen", "Bonn", "Lyon", "Porto", "Graz", "Delft", "Turin", "Leeds", "Gdansk", "Basel")
_THINGS = ("survey", "budget", "sensor", "garden", "letter", "table", "release", "recipe", "model", "notebook", "kiln")
METHOD = (
    "`jupyter server` with JupyterLab and Onyx, a scripted provider in another process, and one client on the socket "
    f"that asks what the front end asks when the sidebar opens. {FILES} memory files lie there, indexed by a server "
    "before. The figures are the proportional set size (PSS, Linux) of the server and all its helper processes "
    f"together. Beside an open sidebar: {CONNECTED_S:g} s after the connection. Then the first message is written, for "
    f"{TYPING_S:g} s from its first key on, and sent; {TURNS} turns in all, {READING_S:g} s apart, with recall on, "
    f"two of which search the memory and two write to it. At rest: the idle limit is {IDLE_MS / 1000:g} s here instead "
    "of ten minutes, and is awaited."
)


@dataclass
class _Taken:
    """Of one run: megabytes, seconds, and how many of the turns had notes of the memory with them."""

    start: float = 0.0
    open: float = 0.0
    used: float = 0.0
    server: float = 0.0
    rested: float = 0.0
    first_word_s: float = 0.0
    first_recalled: float = 0.0
    recalled: float = 0.0
    helpers: dict[str, float] = field(default_factory=dict)


def measure() -> Group:
    with ProviderProcess() as provider:
        rounds = [_run(provider) for _ in range(ROUNDS)]
    helpers = ", ".join(f"{name} {size:.0f} MB" for name, size in rounds[-1].helpers.items())
    return Group(
        "Memory in use",
        METHOD,
        [
            Figure("at start", [one.start for one in rounds], "MB", digits=0),
            *_bounded("sidebar open, nothing asked", [one.open for one in rounds], OPEN_MB),
            *_bounded(f"after {TURNS} turns", [one.used for one in rounds], USED_MB),
            Figure("  of it Jupyter's own process", [one.server for one in rounds], "MB", digits=0),
            *_bounded("after ten idle minutes", [one.rested for one in rounds], RESTED_MB),
            Figure("first message, Enter → first word", [one.first_word_s * 1000 for one in rounds], "ms", digits=0),
            Figure("  first messages with notes of the memory", [one.first_recalled * 100 for one in rounds], "%"),
            Figure(f"  of all {TURNS}", [one.recalled * 100 for one in rounds], "%", digits=0),
        ],
        notes=[f"Helper processes after the turns: {helpers or 'none'}."],
    )


def _bounded(name: str, sizes: Sequence[float], limit: float) -> list[Figure]:
    return [
        Figure(name, sizes, "MB", limit, digits=0),
        Figure("  of the limit", [size / limit for size in sizes], "×"),
    ]


def _run(provider: ProviderProcess) -> _Taken:
    taken = _Taken()
    settings: dict[str, Any] = {"local": {"idleTimeoutMs": IDLE_MS}, "memory": {"consolidation": False}}
    with JupyterProcess(configuration=provider.configuration | settings) as server:
        _write_memory(server)
        _fill_index(server)
        server.restart()
        taken.start = sum(_sizes(server.process).values())
        with SocketClient(server.port, server.token) as client:
            _open_sidebar(client)
            time.sleep(CONNECTED_S)
            taken.open = sum(_sizes(server.process).values())
            key = client.call("sessions.create")["sessionKey"]
            client.call("sessions.subscribe", sessionKey=key)
            client.call("chat.composing", sessionKey=key, text="")
            time.sleep(TYPING_S)
            for turn, message in enumerate(_messages()):
                began = time.monotonic()
                client.call("chat.send", sessionKey=key, message=message, typed=True)
                first = client.wait_for("chat.delta")
                if not turn:
                    taken.first_word_s = first.at_ns / 1e9 - began
                _to_its_end(client)
                time.sleep(READING_S)
            sizes = _sizes(server.process)
            taken.used, taken.server = sum(sizes.values()), sizes.pop("")
            taken.helpers = sizes
            asked = [one for one in client.call("chat.history", sessionKey=key)["messages"] if one["role"] == "user"]
            notes = [
                any(item["type"] == "memory" for item in one.get("meta", {}).get("context") or ()) for one in asked
            ]
            taken.first_recalled, taken.recalled = float(notes[0]), sum(notes) / TURNS
            time.sleep(IDLE_MS / 1000)
            _wait_until(lambda: sum(_sizes(server.process).values()) <= RESTED_MB, RESTED_S)
            taken.rested = sum(_sizes(server.process).values())
    return taken


def _fill_index(server: JupyterProcess) -> None:
    """As a server before this one has left it."""
    with SocketClient(server.port, server.token) as client:
        client.call("memory.search", query="survey", limit=1)
        deadline = time.monotonic() + FILL_S
        while (state := client.call("memory.status"))["searches"] != "index" or "progress" in state:
            if time.monotonic() > deadline:
                raise RuntimeError(f"The memory was not read into the index: {state}")
            time.sleep(0.5)


def _to_its_end(client: SocketClient) -> None:
    """The turn, in which the person allows what is asked."""
    while (event := client.wait_for("chat.final", "exec.approval_request")).name != "chat.final":
        client.send("exec.approve", approvalId=event.data["approvalId"], version=event.data.get("version"))


def _open_sidebar(client: SocketClient) -> None:
    """As the front end does."""
    client.call("client.update", notebooks=[], pageId="benchmark")
    client.call("models.list", refresh=False)
    client.call("agents.list")
    client.call("health.check")
    client.call("sessions.list", limit=50)
    client.call("skills.list")
    client.call("project.files")
    client.call("knowledge.list")


def _messages() -> list[str]:
    asked = [f"Who leads the {_THINGS[at]} of {place}?" for at, place in enumerate(_PLACES)]
    asked[3], asked[7] = (f"look {_THINGS[at]} of {_PLACES[at]}" for at in (3, 7))
    asked[5], asked[9] = (f"note The {_THINGS[at]} of {_PLACES[at]} was moved to Tuesday." for at in (5, 9))
    return asked


def _write_memory(server: JupyterProcess) -> None:
    days, random_ = server.home / "workspace" / "memory", random.Random(7)
    days.mkdir(parents=True)
    for number in range(FILES):
        place = _PLACES[number % len(_PLACES)]
        things = [_THINGS[(number + step * len(_PLACES)) % len(_THINGS)] for step in range(SECTIONS)]
        parts = [f"## The {thing} of {place}\n\n{_text(thing, place, random_)}\n" for thing in things]
        (days / f"note-{number}.md").write_text(f"# Notes on {place}\n\n" + "\n".join(parts), encoding="utf-8")


def _text(thing: str, place: str, random_: random.Random) -> str:
    who, day = random_.choice(_PEOPLE), random_.randrange(1, 28)
    return f"{who} leads the {thing} of {place} since {day} May. It takes {day} days, and {who} writes the report."


def _sizes(process: psutil.Process) -> dict[str, float]:
    """PSS in MB: of the server under "", of its helper processes by the module that each runs."""
    sizes = {"": process.memory_full_info().pss / 1e6}
    for child in process.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            command = child.cmdline()
            name = command[command.index("-m") + 1].removeprefix("onyx_jupyter.") if "-m" in command else child.name()
            sizes[name] = sizes.get(name, 0.0) + child.memory_full_info().pss / 1e6
    return sizes


def _wait_until(is_so: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not is_so():
        time.sleep(0.5)
