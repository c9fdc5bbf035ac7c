"""The process in which documents are read: a file that hangs, crashes or eats memory takes nothing but it along.

It is given names and contents on its input and answers each with a line; it opens no file, and ends with its input.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import sys
import traceback
from dataclasses import astuple
from io import BytesIO
from typing import Any, BinaryIO

from onyx_jupyter.errors import DocumentUnreadable
from onyx_jupyter.ingest.cutting import cut
from onyx_jupyter.ingest.readers import read_document

MAX_MEMORY_BYTES = 3_000_000_000
# The server ends it when the time is over; should that be gone, it ends by itself.
_OVERTIME_S = 2


def read(name: str, title: str, data: bytes) -> dict[str, Any]:
    """The passages with what is told of the document, or why there are none."""
    try:
        document = read_document(name, BytesIO(data))
        chunks = cut(document, title)
    except DocumentUnreadable as error:
        return {"problem": str(error)}
    except MemoryError:
        return {"problem": "It takes more memory to read than a document may. Save it in parts, and add those."}
    except Exception:
        return {"failed": traceback.format_exc()}
    found = {"title": document.title, "note": document.note, "text": document.text}
    return {**found, "chunks": [astuple(chunk) for chunk in chunks]}


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Until there are no more: a line of JSON with `name`, `title`, `bytes` and `limitS`, then that many bytes."""
    while line := requests.readline():
        asked = json.loads(line)
        data = requests.read(asked["bytes"])
        _end_after(asked["limitS"] + _OVERTIME_S)
        answer = json.dumps(read(asked["name"], asked["title"], data), ensure_ascii=False)
        _end_after(0)
        answers.write(answer.encode("utf-8", "surrogatepass") + b"\n")
        answers.flush()


def _end_after(seconds: float) -> None:
    """By a signal that ends it whatever it is busy with; 0 takes that back."""
    if hasattr(signal, "alarm"):
        signal.alarm(math.ceil(seconds))


def _bound_memory() -> None:
    if sys.platform != "win32":
        import resource

        with contextlib.suppress(OSError, ValueError):  # a system that knows no such bound, or has a smaller one
            resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))


if __name__ == "__main__":
    # What a library prints must not come between the answers.
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _bound_memory()
    with contextlib.suppress(BrokenPipeError):  # the server is gone
        serve(sys.stdin.buffer, channel)
