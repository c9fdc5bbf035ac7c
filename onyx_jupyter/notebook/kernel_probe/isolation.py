"""Keeps a question from touching the cell that runs meanwhile. It runs in the kernel, before and after the question.

IPython tells its callbacks after every request that code has run, and one of them shows and closes all open figures: in
the middle of a cell that would take its plot away. ipykernel also notes for the whole kernel whether input is allowed,
and says "idle" at the end of the question although the cell goes on.
"""

from __future__ import annotations

import sys
import threading
from typing import Any


def begin_quietly(shell: Any) -> None:
    """No callbacks for what runs in this thread; input is allowed as the running cell has it."""
    here, trigger = threading.current_thread(), shell.events.trigger

    def trigger_elsewhere(event: Any, *arguments: Any, **named: Any) -> None:
        if threading.current_thread() is not here:
            trigger(event, *arguments, **named)

    shell.events.trigger = trigger_elsewhere
    if _beside_the_shell(shell):
        asked = (shell.kernel.get_parent("shell") or {}).get("content") or {}
        shell.kernel._allow_stdin = bool(asked.get("allow_stdin", False))
        for stream in (sys.stdout, sys.stderr):  # a library's warning belongs to this question, not to the cell
            if hasattr(stream, "set_thread_parent"):
                stream.set_thread_parent(shell.kernel.get_parent("control"))


def end_quietly(shell: Any) -> None:
    """Callbacks as before; while a cell runs, the "idle" at the end is one that front ends do not count."""
    vars(shell.events).pop("trigger", None)
    if _beside_the_shell(shell) and _cell_runs(shell.kernel):
        shell.kernel.get_parent("control")["header"]["msg_type"] = "debug_request"


def _beside_the_shell(shell: Any) -> bool:
    """Whether this is ipykernel's control thread, so that a cell may run at the same time."""
    in_main = threading.current_thread() is threading.main_thread()
    return not in_main and hasattr(getattr(shell, "kernel", None), "get_parent")


def _cell_runs(kernel: Any) -> bool:
    lock = getattr(kernel, "_main_asyncio_lock", None)  # ipykernel 7
    if lock is not None:
        return bool(lock.locked())
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None:
        if frame.f_code.co_name == "do_execute":
            return True
        frame = frame.f_back
    return False
