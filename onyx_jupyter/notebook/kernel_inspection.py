"""Asks a Python kernel about its variables without disturbing the code that runs in it.

The question is one silent request whose code stays in its own dictionary. It uses the control channel, which ipykernel
serves in a separate thread, so it is answered while a cell runs and leaves the parents of all output alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import re
from collections.abc import Mapping
from pathlib import Path
from queue import Empty
from typing import Any
from weakref import WeakValueDictionary

from jupyter_core.utils import ensure_async

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.kernel_client import new_client
from onyx_jupyter.security.secret_patterns import PASSWORD_NAMES, SECRET_KEY_NAMES

PARTS = (
    "isolation",
    "access",
    "values",
    "streaming_statistics",
    "summaries",
    "frames",
    "tables",
    "arrays",
    "other_objects",
    "paths",
    "box_plots",
    "axes",
    "figures",
    "answer",
)
_OUR_IMPORT = re.compile(r"^from (?:onyx_jupyter|__future__)\b[^\n(]*(?:\([^)]*\))?", re.MULTILINE)
_FOLDER = Path(__file__).parent / "kernel_probe"
_POLL_S = 0.25
_INFO_S = 5.0
_IDLE_S = 4.0
_SLACK_S = 5.0
_SCOPE = '{"b": __import__("builtins"), "__name__": "onyx_look"}'
_SHELL = '__import__("IPython").get_ipython()'


class KernelInspection:
    """Questions to the kernels of one server; each kernel gets one at a time."""

    def __init__(self, kernel_manager: Any) -> None:
        self._kernels = kernel_manager
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._known: dict[str, tuple[object, Mapping[str, Any]]] = {}

    async def ask(self, kernel_id: str, about: str, seconds: float, **more: Any) -> dict[str, Any]:
        """The answer; `seconds` limits how long the kernel may look.

        Raises: NotebookError (not_python, kernel_busy, kernel_dead, no_variable, too_slow, not_readable).
        """
        question = {"about": about, "seconds": seconds, "secretNames": [*PASSWORD_NAMES, *SECRET_KEY_NAMES], **more}
        content = await asyncio.to_thread(_request, json.dumps(question))
        lock = self._locks.setdefault(kernel_id, asyncio.Lock())
        async with lock:
            kernel = self._kernels.get_kernel(kernel_id)
            client = new_client(kernel)
            await ensure_async(client.start_channels(shell=True, iopub=False, stdin=False, hb=False, control=True))
            try:
                info = await self._info(kernel_id, kernel, client)
                if info.get("implementation") == "ipython":
                    reply = await _reply(kernel, client, "control", content, seconds + _SLACK_S)
                else:
                    await _reply(kernel, client, "shell", None, _IDLE_S)
                    reply = await _reply(kernel, client, "shell", content, seconds + _SLACK_S)
            finally:
                client.stop_channels()
        return _answer(reply)

    async def _info(self, kernel_id: str, kernel: Any, client: Any) -> Mapping[str, Any]:
        """The kernel's own info reply, which a busy kernel sends too."""
        process = getattr(getattr(kernel, "provisioner", None), "pid", None)
        known_process, info = self._known.get(kernel_id, (object(), {}))
        if known_process != process:
            language = getattr(getattr(kernel, "kernel_spec", None), "language", "") or "python"
            if language.lower() != "python":
                raise _not_python(language)
            info = await _reply(kernel, client, "control", None, _INFO_S)
            self._known[kernel_id] = (process, info)
        language = str((info.get("language_info") or {}).get("name", ""))
        if language.lower() not in ("python", "ipython"):
            raise _not_python(language)
        return info


async def _reply(
    kernel: Any, client: Any, channel: str, content: Mapping[str, Any] | None, timeout_s: float
) -> Mapping[str, Any]:
    """The kernel's reply to executing `content`, or its info reply if `content` is None."""
    message = client.session.msg("execute_request" if content else "kernel_info_request", dict(content or {}))
    getattr(client, f"{channel}_channel").send(message)
    receive = getattr(client, f"get_{channel}_msg")
    deadline = asyncio.get_running_loop().time() + timeout_s
    while asyncio.get_running_loop().time() < deadline:
        with contextlib.suppress(Empty):
            reply = await ensure_async(receive(timeout=_POLL_S))
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                answered: Mapping[str, Any] = reply["content"]
                return answered
        if not await ensure_async(kernel.is_alive()):
            raise NotebookError(
                "kernel_dead", "The kernel died, so its variables are lost. Restarting it starts a new one."
            )
    raise NotebookError(
        "kernel_busy",
        "The kernel is busy, and what runs in it blocks access to its variables. Ask again when it has finished.",
    )


def _request(question: str) -> dict[str, Any]:
    """The content of an execute_request. Its code is always the same: IPython keeps each different one forever."""
    begin = f'(lambda s: s["b"].exec({_part("isolation")!r}, s) or s["begin_quietly"]({_SHELL}))({_SCOPE})'
    ask = f'(lambda s: s["b"].exec({probe_source()!r}, s) or s["answer"]({_SHELL}, {question!r}))({_SCOPE})'
    return {
        "code": begin,
        "silent": True,
        "store_history": False,
        "user_expressions": {"answer": ask},
        "allow_stdin": True,
        "stop_on_error": False,
    }


def _answer(reply: Mapping[str, Any]) -> dict[str, Any]:
    given = (reply.get("user_expressions") or {}).get("answer") or {}
    text = (given.get("data") or {}).get("text/plain")
    if not isinstance(text, str):
        failed = given or reply
        why = ": ".join(str(failed[key]) for key in ("ename", "evalue") if failed.get(key))
        raise NotebookError("not_readable", f"The kernel could not inspect its variables ({why or 'no answer'}).")
    found: dict[str, Any] = json.loads(text)
    if "problem" in found:
        raise NotebookError(found["problem"], found["message"])
    return found


@functools.cache
def probe_source() -> str:
    """The code that inspects the kernel, as one text without imports from this package."""
    return "\n".join(["from __future__ import annotations", *(_part(name) for name in PARTS)])


@functools.cache
def _part(name: str) -> str:
    # Not with `ast`: in a worker thread, CPython before 3.11.8 and 3.12.2 may mix up its recursion depth with another
    # thread's.
    return _OUR_IMPORT.sub("", (_FOLDER / f"{name}.py").read_text(encoding="utf-8"))


def _not_python(language: str) -> NotebookError:
    return NotebookError(
        "not_python",
        f"The notebook's kernel speaks {language or 'another language'}: only Python's can be inspected.",
    )
