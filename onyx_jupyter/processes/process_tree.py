"""Finds and ends everything that a command has started, however it hides. No other process is touched."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable

import psutil

from onyx_jupyter.processes.environment import MARKER_VARIABLE

_TERMINATE_S = 0.3
_ROUNDS = 5
_ROUND_S = 0.1
_POLL_S = 0.01


def end_process_tree(root_pid: int | None, marker: str) -> int:
    """Ends the tree of `root_pid`, first with SIGTERM, then by force; returns the number of processes.

    `root_pid` None: only the marker is known.
    Includes descendants, members of its session, and any process with the marker in its environment, such as a daemon
    that left session and parent. Blocks for 0.8 s at most: call it in a thread.
    """
    ended: set[int] = set()
    living = _tree(root_pid, marker)
    ended.update(process.pid for process in living)
    _signal(living, force=False)
    _wait_until_gone(living, _TERMINATE_S)
    for _ in range(_ROUNDS):  # repeated: a process that is just forking is found one round later
        living = _tree(root_pid, marker)
        if not living:
            break
        ended.update(process.pid for process in living)
        _signal(living, force=True)
        _wait_until_gone(living, _ROUND_S)
    return len(ended)


def _tree(root_pid: int | None, marker: str) -> list[psutil.Process]:
    own = os.getpid()
    found: dict[int, psutil.Process] = {}
    with contextlib.suppress(psutil.Error):
        if root_pid is not None and _session_of(root_pid) == root_pid:  # else the id was reused by now
            root = psutil.Process(root_pid)
            found = {process.pid: process for process in [root, *root.children(recursive=True)]}
    for process in psutil.process_iter():
        if process.pid not in found and process.pid != own and _belongs(process, root_pid, marker):
            found[process.pid] = process
            with contextlib.suppress(psutil.Error):
                found.update({child.pid: child for child in process.children(recursive=True)})
    return [process for process in found.values() if _alive(process)]


def _belongs(process: psutil.Process, root_pid: int | None, marker: str) -> bool:
    if root_pid is not None and _session_of(process.pid) == root_pid:
        return True
    try:
        return process.environ().get(MARKER_VARIABLE) == marker
    except (psutil.Error, OSError):
        return False


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except (OSError, AttributeError):  # gone, no permission, or a system without sessions
        return None


def _alive(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _signal(processes: Iterable[psutil.Process], *, force: bool) -> None:
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill() if force else process.terminate()


def _wait_until_gone(processes: Iterable[psutil.Process], timeout_s: float) -> None:
    """Polls, since psutil's own wait would reap the shell, and the event loop would never learn its exit code."""
    deadline = time.monotonic() + timeout_s
    while any(_alive(process) for process in processes) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
