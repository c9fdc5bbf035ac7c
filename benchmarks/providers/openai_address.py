"""A server extension that puts the scripted provider at OpenAI's own place, so that it is spoken to by Responses.

A `baseUrl` would not do: another address gets chat completions. Only the benchmark that asks for it loads this.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from onyx_jupyter.providers.known_providers import KNOWN_PROVIDERS

VARIABLE = "BENCHMARK_OPENAI_ADDRESS"


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "benchmarks.providers.openai_address"}]


def _load_jupyter_server_extension(server_app: Any) -> None:
    KNOWN_PROVIDERS["openai"] = replace(KNOWN_PROVIDERS["openai"], address=os.environ[VARIABLE])
