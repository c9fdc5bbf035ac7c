"""Whether a server goes on from the beginning of an answer, and how it wants to be asked to. It is found out by trying.

A last message of the assistant's is gone on with by llama.cpp's server as it is, by vLLM and SGLang with two fields of
their own; others begin a new answer, or refuse. Nothing that a server says of itself tells which.
Source: vLLM, "OpenAI-Compatible Server" (`continue_final_message`, `add_generation_prompt`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

log = logging.getLogger(__name__)
Way = Literal["as it is", "with fields", "not at all"]
FIELDS: Mapping[Way, Mapping[str, Any]] = {
    "as it is": {},
    "with fields": {"continue_final_message": True, "add_generation_prompt": False},
}
# Broken off in a word: who goes on ends the word, who begins anew says anything else.
_ASKED = "Write this line of Python in a code block, and nothing else: print('hello world')"
_BEGUN, _GONE_ON = "```python\nprint('hel", "lo"
_TRIAL: Mapping[str, Any] = {
    "messages": [{"role": "user", "content": _ASKED}, {"role": "assistant", "content": _BEGUN}],
    "temperature": 0.0,
    "max_tokens": 8,
}
# A server says with these that it cannot; whatever else goes wrong says nothing about it.
_REFUSALS = frozenset({400, 405, 413, 415, 422, 500, 501})
Say = Callable[[Mapping[str, Any]], Awaitable[str]]


class Continuation:
    """What was found out, by address and model, for as long as the process lives."""

    def __init__(self) -> None:
        self._ways: dict[tuple[str, str], Way] = {}
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}

    async def way(self, address: str, model: str, say: Say) -> Way:
        """How this model goes on there; at first `say` is asked, which gives the text of an answer, twice at most.

        Where the server cannot be asked, it is "not at all" for now, and asked again the next time.
        """
        server = (address, model)
        async with self._locks.setdefault(server, asyncio.Lock()):
            if server not in self._ways:
                found = await _try(say)
                if found is None:
                    return "not at all"
                log.info("%s at %s goes on from the beginning of an answer: %s", model, address, found)
                self._ways[server] = found
            return self._ways[server]

    def forget(self, address: str, model: str) -> None:
        """Another server may stand at the address."""
        self._ways.pop((address, model), None)


async def _try(say: Say) -> Way | None:
    for way, fields in FIELDS.items():
        try:
            text = await say({**_TRIAL, **fields})
        except Exception as error:
            if getattr(error, "status_code", None) not in _REFUSALS:
                log.info("Whether an answer can be begun was not found out: %s", type(error).__name__)
                return None
            continue
        if text.startswith(_GONE_ON):
            return way
    return "not at all"
