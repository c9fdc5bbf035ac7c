"""A command with a family of processes, which write their ids into `pids`, and which of them still run."""

import contextlib
from pathlib import Path

import psutil

# A child, a grandchild, one in a session of its own, and one that turns a deaf ear to SIGTERM.
FAMILY = (
    "echo $$ >> pids; "
    "(sleep 600 & echo $! >> pids; wait) & "
    "setsid -f sh -c 'echo $$ >> pids; exec sleep 600'; "
    "(trap '' TERM; echo $BASHPID >> pids; while true; do sleep 600; done) & "
)


def pids_in(folder: Path) -> list[int]:
    file = folder / "pids"
    return [int(line) for line in file.read_text().splitlines()] if file.exists() else []


def running(pid: int) -> bool:
    with contextlib.suppress(psutil.Error):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False
