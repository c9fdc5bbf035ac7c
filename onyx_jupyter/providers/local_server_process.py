"""The process in which a local model runs, so that a native crash does not take Jupyter down.

It reads one line of JSON from standard input (the key stays out of the process list), prints where it listens on
standard output, and ends as soon as its parent does, however the parent ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from typing import Any, TextIO

READY = "onyx-ready "
FAILED = "onyx-failed "
_PARENT_CHECK_S = 2.0
_PROMPT_BATCH_TOKENS = 64


def main() -> None:
    """Serves until the parent goes away."""
    options = json.loads(sys.stdin.readline())
    os.umask(0o077)  # what it leaves on disk holds prompts
    threading.Thread(target=_end_with_pipe, args=(sys.stdin,), daemon=True).start()
    try:
        server = _serve(options)
    except Exception as error:
        _print(f"{FAILED}{error}")
        raise SystemExit(1) from error
    _print(f"{READY}{server.listening_address}")
    _end_with_parent(options["parent"])


def _serve(options: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = options["path"]
    params.n_ctx = options["context_tokens"]
    params.n_parallel = 1
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = options["threads"]
        # No busy waiting: next to a busy kernel on two cores it makes the model two to four times slower.
        threads.poll = 0
    # Small batches: between two of them the server notices that the client has left. Batches of 64 tokens take no more
    # processor time than batches of 256.
    params.n_batch = _PROMPT_BATCH_TOKENS
    params.n_ubatch = _PROMPT_BATCH_TOKENS
    # No speculation from repeated text (`speculative.types`): a repair of 70 tokens takes a third less time with
    # 0.5 billion parameters, but no less with 1.5 billion, where a wrong guess costs what a right one saves.
    # Read instead of mapped: the runtime keeps the weights in an order that suits the processor, and the mapped file
    # would take extra memory (600 MB more for a file of 1.1 GB).
    if hasattr(params, "load_mode"):
        params.load_mode = xllamacpp.llama_load_mode.LLAMA_LOAD_MODE_NONE
    params.use_jinja = True
    params.warmup = False
    params.verbosity = 0
    params.model_alias = options["name"]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [options["api_key"]]
    params.ui = False
    params.endpoint_slots = False
    if options["saved_in"]:
        params.slot_save_path = options["saved_in"] + os.sep
    params.cache_ram_mib = options["kept_prompts_mib"]
    return xllamacpp.Server(params)


def _end_with_pipe(pipe: TextIO) -> None:
    """The parent holds the other end and never writes again: however it ends, kill -9 included, the pipe closes."""
    with contextlib.suppress(OSError, ValueError):
        pipe.read()
    os._exit(0)


def _end_with_parent(parent: int) -> None:
    """A second check, in case a forked child of the parent keeps the pipe open."""
    while os.name == "nt" or os.getppid() == parent:
        time.sleep(_PARENT_CHECK_S)
    os._exit(0)


def _print(line: str) -> None:
    sys.stdout.write(line.replace("\n", " ") + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
