"""Reads stamped chunks without Onyx and prints how long each took, so that Onyx's own share can be told apart.

`python -m benchmarks.library_latency http|litellm BASE_URL QUESTION` prints a JSON list of milliseconds.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from typing import Any


async def read(how: str, base_url: str, question: str) -> list[float]:
    """Milliseconds from the provider's byte to the received text, one per chunk."""
    texts = _by_litellm(base_url, question) if how == "litellm" else _by_http(base_url, question)
    taken_ms = []
    async for text in texts:
        now_ns = time.monotonic_ns()
        taken_ms += [(now_ns - int(stamp)) / 1e6 for stamp in text.split()]
    return taken_ms


async def _by_litellm(base_url: str, question: str) -> AsyncIterator[str]:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.disable_aiohttp_transport = True
    litellm.suppress_debug_info = True
    chunks: Any = await litellm.acompletion(
        model="openai/scripted",
        messages=[{"role": "user", "content": question}],
        stream=True,
        stream_options={"include_usage": True},
        base_url=base_url,
        api_key="sk-scripted",
    )
    async for chunk in chunks:
        if chunk.choices and chunk.choices[0].delta.content:
            yield chunk.choices[0].delta.content


async def _by_http(base_url: str, question: str) -> AsyncIterator[str]:
    import httpx

    body = {"model": "scripted", "stream": True, "messages": [{"role": "user", "content": question}]}
    async with (
        httpx.AsyncClient(trust_env=False, timeout=60) as client,
        client.stream("POST", f"{base_url}/chat/completions", json=body) as response,
    ):
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                choices = json.loads(line.removeprefix("data: "))["choices"]
                if choices and choices[0]["delta"].get("content"):
                    yield choices[0]["delta"]["content"]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(read(*sys.argv[1:4]))))
