"""The process in which documents are read: a file that hangs, crashes or exhausts memory affects only this process.

It gets names and open files and answers each with a line; if open files can't be passed (Windows), it opens them by
path. It writes none, and ends with its input.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path
from typing import Any, BinaryIO

from onyx_jupyter.errors import DocumentUnreadable
from onyx_jupyter.ingest.document_chunking import cut
from onyx_jupyter.ingest.memory_limit import MAX_BYTES, bound_memory
from onyx_jupyter.ingest.readers import read_document

# The server kills it when the time is up; if the server is gone, it ends by itself.
_GRACE_S = 2


def read(name: str, title: str, given: Callable[[], BinaryIO]) -> dict[str, Any]:
    """The passages and facts of the document, or why there are none. Raises: MemoryError."""
    try:
        with given() as file:
            document = read_document(name, file)
        chunks = cut(document, title)
    except DocumentUnreadable as error:
        return {"problem": str(error)}
    except MemoryError:
        raise
    except OSError as error:
        return {"refused": error.strerror or str(error)}
    except Exception:
        return {"failed": traceback.format_exc()}
    found = {"title": document.title, "note": document.note, "text": document.text}
    return {**found, "chunks": [astuple(chunk) for chunk in chunks]}


def serve(requests: BinaryIO, answers: BinaryIO, files: socket.socket | None, bound_bytes: int | None = None) -> None:
    """Answers an empty line when started. Each request is a JSON line: `name`, `title`, `limitS` and `path`.

    `files` passes the open file of each; without it `path` is opened. `bound_bytes`: the memory limit, if any.
    """
    exceeded = json.dumps({"exceeded": _exceeded(bound_bytes)})  # prepared, since there may be no memory left then
    _write_line(answers, "")
    while line := requests.readline():
        asked = json.loads(line)
        _end_after(asked["limitS"] + _GRACE_S)

        def given(path: str = asked["path"]) -> BinaryIO:
            return Path(path).open("rb") if files is None else _received(files)

        try:
            answer = json.dumps(read(asked["name"], asked["title"], given), ensure_ascii=False)
        except MemoryError:
            answer = exceeded
        _end_after(0)
        _write_line(answers, answer)
        del answer
        gc.collect()  # remains of this document would count for the next one


def _exceeded(bound_bytes: int | None) -> str:
    may = "may use here" if bound_bytes is None else f"may use here, which is {bound_bytes // 1_000_000} MB"
    is_most = bound_bytes is None or bound_bytes >= MAX_BYTES
    otherwise = "" if is_most else ", or give this server more memory"
    return f"It takes more memory to read than a document {may}. Split it and add the parts{otherwise}."


def _received(files: socket.socket) -> BinaryIO:
    _, descriptors, _, _ = socket.recv_fds(files, 1, 1)
    return os.fdopen(descriptors[0], "rb")


def _write_line(answers: BinaryIO, line: str) -> None:
    answers.write(line.encode("utf-8", "surrogatepass") + b"\n")
    answers.flush()


def _end_after(seconds: float) -> None:
    """Sets a signal that ends the process whatever it is doing; 0 cancels it."""
    if hasattr(signal, "alarm"):
        signal.alarm(math.ceil(seconds))


if __name__ == "__main__":
    # A library's prints must not mix with the answers.
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    bound = bound_memory()
    given_files = socket.socket(fileno=int(sys.argv[1])) if len(sys.argv) > 1 else None
    with contextlib.suppress(BrokenPipeError):  # the server is gone
        serve(sys.stdin.buffer, channel, given_files, bound)
