"""Answers one question about the kernel's variables, within its time, as JSON text. It runs in the kernel."""

from __future__ import annotations

import ctypes
import fnmatch
import hashlib
import json
import os
import signal
import threading
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from onyx_jupyter.notebook.kernel_probe.access import Look, from_library, is_a, is_environment, is_of, type_name
from onyx_jupyter.notebook.kernel_probe.arrays import inspect_array, inspect_sparse, inspect_tensor
from onyx_jupyter.notebook.kernel_probe.figures import drawn_figures, watch_figures
from onyx_jupyter.notebook.kernel_probe.frames import inspect_frame, inspect_index, inspect_series
from onyx_jupyter.notebook.kernel_probe.isolation import end_quietly
from onyx_jupyter.notebook.kernel_probe.other_objects import (
    inspect_class,
    inspect_container,
    inspect_environment,
    inspect_function,
    inspect_module,
    inspect_object,
    inspect_text,
)
from onyx_jupyter.notebook.kernel_probe.paths import UnresolvablePath, follow
from onyx_jupyter.notebook.kernel_probe.summaries import (
    KINDS,
    describe_secret,
    kind_of,
    numpy_array,
    pandas_frame,
    pandas_series,
    summary,
)
from onyx_jupyter.notebook.kernel_probe.tables import inspect_lazy, inspect_table
from onyx_jupyter.notebook.kernel_probe.values import short

_AFTER_SIGNAL_S = 0.5
_TIME_SHARE = 0.75


class ProbeTimeout(BaseException):
    """Raised from outside into what takes too long; no `except Exception` on the way holds it up."""


class Answer:
    """Carries JSON text through IPython's display formatting, whatever formatters a user has registered."""

    def __init__(self, text: str) -> None:
        self._text = text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": self._text}


def answer(shell: Any, asked: str) -> Answer:
    """The answer to a question in JSON; whatever goes wrong is an answer, too."""
    question = json.loads(asked)
    look = Look(question["seconds"] * _TIME_SHARE, tuple(question["secretNames"]))
    about: Callable[[Any, dict[str, Any], Look], dict[str, Any]] = _ABOUT[question["about"]]
    try:
        found = within(question["seconds"], lambda: about(shell, question, look))
    except UnresolvablePath as error:
        found = {"problem": "no_variable", "message": str(error)}
    except (ProbeTimeout, KeyboardInterrupt):
        found = {"problem": "too_slow", "message": f"Looking took longer than {question['seconds']:g} s."}
    except Exception as error:
        found = {"problem": "not_readable", "message": f"It cannot be read: {type_name(type(error))}."}
    finally:
        end_quietly(shell)
    return Answer(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8"))


def within(seconds: float, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `work` gives. Raises: ProbeTimeout into it; where the main thread does not notice that, an interrupt."""
    thread, lock = threading.current_thread().ident or 0, threading.Lock()
    ended, late = threading.Event(), threading.Event()

    def watch() -> None:
        if ended.wait(seconds):
            return
        with lock:
            if not ended.is_set():
                late.set()
                _raise_in(thread, ProbeTimeout)
        if thread == threading.main_thread().ident and not ended.wait(_AFTER_SIGNAL_S) and os.name == "posix":
            with lock:
                if not ended.is_set():
                    signal.pthread_kill(thread, signal.SIGINT)  # a sleep ends by this alone

    try:
        try:
            threading.Thread(target=watch, name="onyx-look", daemon=True).start()
            return work()
        finally:
            _finish(lock, ended, late)
    except (ProbeTimeout, KeyboardInterrupt):
        _finish(lock, ended, late)  # it may have come on the way into the first one, and would be followed by a signal
        raise


def _finish(lock: threading.Lock, ended: threading.Event, late: threading.Event) -> None:
    """Nothing is raised any more when this returns; what is still on its way is taken here.

    It is not taken back with `PyThreadState_SetAsyncExc(thread, NULL)`: after that, CPython up to 3.12 looks for an
    exception at every call for ever, and 3.11 gets stuck in the first call under a debugger.
    """
    is_taken = False
    while not (ended.is_set() and is_taken):
        try:
            with lock:
                ended.set()
            if late.is_set():
                for _ in range(100):  # an exception that was set comes up at the next step backwards
                    pass
            is_taken = True
        except (ProbeTimeout, KeyboardInterrupt):
            continue


def _raise_in(thread: int, error: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def user_names(shell: Any) -> dict[str, Any]:
    """The user's own variables: nothing of IPython's, nothing that begins with an underscore."""
    hidden, nothing = dict(shell.user_ns_hidden), object()
    return {
        name: value
        for name, value in dict(shell.user_ns).items()
        if type(name) is str and not name.startswith("_") and value is not hidden.get(name, nothing)
    }


def _variables(shell: Any, question: dict[str, Any], look: Look) -> dict[str, Any]:
    names = [(name, value, kind_of(value)) for name, value in user_names(shell).items()]
    plural = {"functions": "function", "classes": "class", "modules": "module"}
    counts = {word: sum(one == kind for _, _, one in names) for word, kind in plural.items()}
    if question["pattern"]:
        names = [one for one in names if _matches(one[0], question["pattern"])]
    told_kinds = KINDS if question["functions"] else KINDS[:6]
    wanted = [one for one in reversed(names) if one[2] in told_kinds]  # the newest first
    wanted.sort(key=lambda one: KINDS.index(one[2]))
    told: list[dict[str, Any]] = []
    for name, value, kind in wanted[: question["most"]]:
        late = look.left_s() <= 0
        bare = {"name": name, "kind": kind, "type": type_name(type(value)), "summary": "not read: no time was left"}
        told.append(bare if late else _described(name, value, look))
    rest: dict[str, int] = {}
    for _, value, _ in wanted[question["most"] :]:
        rest[type_name(type(value))] = rest.get(type_name(type(value)), 0) + 1
    return {"variables": told, "left_out": rest, **counts}


def _described(name: str, value: Any, look: Look) -> dict[str, Any]:
    """Of a function its signature."""
    told = summary(name, value, look)
    if told["kind"] == "function":
        told["summary"] = dict(inspect_function(value, look)["facts"])["signature"]
    return told


def _inspect(shell: Any, question: dict[str, Any], look: Look) -> dict[str, Any]:
    value, way = follow(question["name"], dict(shell.user_ns))
    parts: dict[str, Any] = {"facts": [], "tables": [], "notes": [], "text": ""}
    if _is_hidden(way, look):
        told = {"kind": kind_of(value), "type": type_name(type(value)), "summary": describe_secret(value)}
    else:
        told = summary(way[-1][0], value, look)
        parts.update(_parts(value, told["kind"], look))
    return {"type": told["type"], "kind": told["kind"], "summary": told["summary"], **parts}


def _is_hidden(way: list[Any], look: Look) -> bool:
    """Whether a secret lies at the end of the way, or is what the way leads through."""
    name, value = way[-1]
    if kind_of(value) in ("function", "class", "module"):
        return False
    return look.hides(name, value) or any(look.is_secret(passed) or is_environment(held) for passed, held in way[:-1])


def _parts(value: Any, kind: str, look: Look) -> dict[str, Any]:
    if is_environment(value):
        return inspect_environment(value)
    frame, series, array = pandas_frame(value), pandas_series(value), numpy_array(value)
    if frame is not None:
        return inspect_frame(frame, look)
    if series is not None:
        return inspect_series(series, look)
    if array is not None:
        return inspect_array(array, look)
    by_kind = {
        "container": inspect_container,
        "text": inspect_text,
        "function": inspect_function,
        "class": inspect_class,
        "module": inspect_module,
    }
    if kind in by_kind:
        return by_kind[kind](value, look)
    if kind in ("frame", "array") and from_library(type(value)):
        return _of_library(value, kind, look)
    return {"facts": [["value", short(value, look)]]} if kind == "value" else inspect_object(value, look)


def _of_library(value: Any, kind: str, look: Look) -> dict[str, Any]:
    if kind == "array":
        return inspect_tensor(value, look) if is_of(value, "torch", "Tensor") else inspect_sparse(value, look)
    if is_of(value, "pandas", "Index"):
        return inspect_index(value, look)
    return inspect_lazy(value, look) if is_of(value, "polars", "LazyFrame") else inspect_table(value, look)


def _executed(shell: Any, question: dict[str, Any], look: Look) -> dict[str, Any]:
    """What ran under which number, as the beginning of its SHA-256: the server compares it with the cells."""
    inputs = list(shell.history_manager.input_hist_raw)
    return {
        "sources": {
            str(number): hashlib.sha256(source.rstrip("\n").encode("utf-8", "surrogatepass")).hexdigest()[:16]
            for number, source in enumerate(inputs)
            if number and is_a(type(source), (str,))
        }
    }


def _lacking(shell: Any, question: dict[str, Any], look: Look) -> dict[str, Any]:
    """Which packages an import would not find; none is imported."""
    return {"names": [name for name in question["names"] if not _is_found(name)]}


def _is_found(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ValueError:  # there, but made by hand
        return True


def _matches(name: str, pattern: str) -> bool:
    plain = pattern.lower()
    return fnmatch.fnmatchcase(name.lower(), plain if any(sign in plain for sign in "*?[") else f"*{plain}*")


_ABOUT = {
    "variables": _variables,
    "inspect": _inspect,
    "executed": _executed,
    "lacking": _lacking,
    "watch_figures": watch_figures,
    "drawn_figures": drawn_figures,
}
