"""How big the first request to a model is, and how much of each request the next one repeats as its own beginning."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, Group
from benchmarks.house import house
from onyx_jupyter.app.features import all_tools
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.testing.script import Call, Reply
from onyx_jupyter.testing.scripted_server import Received, ScriptedServer

TURNS = 20
METHOD = (
    f"A fresh home with the workspace that a first start writes, all tools, mode agent; {TURNS} questions over HTTP, "
    "each answered with one tool call and then in words. A request is its tools and its messages as JSON, in that "
    "order; tokens are counted with cl100k_base. What is repeated is the longest common beginning of a request and the "
    "next one, as a share of the former; less than 100 is given back as what is missing, so that smaller is better."
)


def measure() -> Group:
    requests = [_serialised(request.body) for request in asyncio.run(_session())]
    missing = [100 * (1 - _repeated(one, other)) for one, other in pairwise(requests)]
    return Group(
        "Requests",
        METHOD,
        [
            Figure("first request, tools included", [_tokens(requests[0])], "tokens", 4000, digits=0),
            Figure("  its characters", [len(requests[0])], "", peer="nanobot 0.3.5: 32,900, NBI 6.2: 24,100", digits=0),
            Figure("not repeated by the next request", missing, "%", 0.5, "nanobot 0.3.5: 0.7"),
            Figure("  the worst of them", [max(missing)], "%", 1, "nanobot 0.3.5: 0.8"),
        ],
    )


def _repeated(one: str, other: str) -> float:
    """The share of `one` that `other` begins with."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return same / len(one)


def _serialised(body: Mapping[str, Any]) -> str:
    """Without the closing brackets, which every JSON text ends with."""
    tools, messages = (json.dumps(body.get(name, []), ensure_ascii=False) for name in ("tools", "messages"))
    return tools + messages.rstrip("]}")


def _tokens(text: str) -> int:
    import litellm

    folder = Path(litellm.__file__).parent / "litellm_core_utils" / "tokenizers"
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))
    import tiktoken

    return len(tiktoken.get_encoding("cl100k_base").encode(text))


async def _session() -> list[Received]:
    with ScriptedServer(_reply) as server:
        configuration = {
            "agents": {"defaults": {"model": "openai/scripted"}},
            "providers": {"openai": {"baseUrl": server.base_url, "apiKey": "sk-scripted"}},
        }
        async with house(configuration, ProviderModels, all_tools) as one:
            key = await one.session()
            for number in range(TURNS):
                await one.run(key, f"What do you know about subject {number}?")
        return list(server.completions)


def _reply(request: Received) -> Reply:
    if request.body["messages"][-1]["role"] == "tool":
        return ["That is what stands in my memory: nothing yet, as far as I can see."]
    return ["I look into my memory. ", Call("memory_get", {"path": "MEMORY.md"})]
