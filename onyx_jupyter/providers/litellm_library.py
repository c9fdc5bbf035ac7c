"""LiteLLM, imported in a thread on first use, with its logging silenced. Nothing else in Onyx imports it."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import logging
import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

_TABLE_FILE = "model_prices_and_context_window_backup.json"
# What the library imports during its first call, which would block the event loop for a second or two.
_FIRST_CALL = (
    "openai.resources",
    "litellm._service_logger",
    "litellm.litellm_core_utils.default_encoding",
    "litellm.llms.litellm_proxy.chat.transformation",
    "litellm.proxy._types",
    "litellm.proxy.openai_files_endpoints.common_utils",
    "litellm.types.integrations.prometheus",
    "httpcore",
    "anyio._backends._asyncio",
)
_WORKER = "litellm.litellm_core_utils.logging_worker"
_WORKER_S = 2.0
_lock = Lock()
_loaded: Any = None


async def load_litellm() -> Any:
    """The library, ready for use; the first call takes seconds, in a worker thread."""
    return _loaded or await asyncio.to_thread(_load)


def loaded_litellm() -> Any | None:
    """The library, if it is loaded."""
    return _loaded


async def price_table() -> Mapping[str, Mapping[str, Any]]:
    """LiteLLM's table of models, read from its file in milliseconds if the library itself is not loaded."""
    return await asyncio.to_thread(read_price_table)


def read_price_table() -> Mapping[str, Mapping[str, Any]]:
    """`price_table` for callers in a thread of their own."""
    return _table(_loaded.model_cost) if _loaded is not None else _read_table()


async def close_litellm() -> None:
    """Closes the library's connections, and ends its background task."""
    if _loaded is not None:
        await _loaded.close_litellm_async_clients()
        worker: Any = getattr(sys.modules.get(_WORKER), "GLOBAL_LOGGING_WORKER", None)
        # The task is internal to the library; if its event loop has ended, so has the task.
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_WORKER_S):
                await worker.flush()
            await worker.stop()


@lru_cache(maxsize=1)
def _read_table() -> Mapping[str, Mapping[str, Any]]:
    spec = find_spec("litellm")
    folders = (spec.submodule_search_locations or ()) if spec else ()
    for folder in folders:
        with contextlib.suppress(OSError, ValueError):
            return _table(json.loads((Path(folder) / _TABLE_FILE).read_text("utf-8")))
    return _table(_load().model_cost)


def _table(models: Any) -> Mapping[str, Mapping[str, Any]]:
    return {str(name): entry for name, entry in models.items() if isinstance(entry, dict)}


def _load() -> Any:
    global _loaded
    with _lock:
        if _loaded is None:
            # Otherwise the import fetches a price list over the network and keeps trying in the background.
            os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            litellm: Any = importlib.import_module("litellm")
            litellm.telemetry = False
            litellm.suppress_debug_info = True
            litellm.set_verbose = False
            litellm.drop_params = True
            # One HTTP client for all providers: closing an answer closes its connection at once, and nothing is
            # left open when the event loop ends.
            litellm.disable_aiohttp_transport = True
            # Its guard against looping models cuts off valid answers: a long rule, a column of the same number.
            litellm.REPEATED_STREAMING_CHUNK_LIMIT = sys.maxsize
            for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
            for module in _FIRST_CALL:
                with contextlib.suppress(ImportError):
                    importlib.import_module(module)
            _loaded = litellm
        return _loaded
