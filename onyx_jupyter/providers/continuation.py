"""Whether and how a server continues an answer that the request begins. This is found out by trying.

If the last message is the assistant's, llama.cpp's server continues it without further settings; vLLM and SGLang need
two fields of their own. Other servers start a new answer or refuse. Nothing that a server reports says which.
Source: vLLM, "OpenAI-Compatible Server" (`continue_final_message`, `add_generation_prompt`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

log = logging.getLogger(__name__)
ContinuationMode = Literal["as it is", "with fields", "not at all"]
FIELDS: Mapping[ContinuationMode, Mapping[str, Any]] = {
    "as it is": {},
    "with fields": {"continue_final_message": True, "add_generation_prompt": False},
}
# Broken off inside a word: a server that continues completes the word; one that starts anew writes anything else.
_ASKED = "Write this line of Python in a code block, and nothing else: print('hello world')"
_BEGUN, _GONE_ON = "```python\nprint('hel", "lo"
_TRIAL: Mapping[str, Any] = {
    "messages": [{"role": "user", "content": _ASKED}, {"role": "assistant", "content": _BEGUN}],
    "temperature": 0.0,
    "max_tokens": 8,
}
# The server says with these that it cannot; any other failure says nothing about it.
_REFUSALS = frozenset({400, 405, 413, 415, 422, 500, 501})
Complete = Callable[[Mapping[str, Any]], Awaitable[str]]


class Continuation:
    """Results by address and model, kept as long as the process lives."""

    def __init__(self) -> None:
        self._modes: dict[tuple[str, str], ContinuationMode] = {}
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}

    async def mode(self, address: str, model: str, complete: Complete) -> ContinuationMode:
        """How this server continues the model's answer. The first call finds out with `complete`, in at most two
        answers.

        If the server cannot be asked, this returns "not at all" and asks again next time.
        """
        server = (address, model)
        async with self._locks.setdefault(server, asyncio.Lock()):
            if server not in self._modes:
                found = await _try(complete)
                if found is None:
                    return "not at all"
                log.info("How %s at %s continues a partial answer: %s", model, address, found)
                self._modes[server] = found
            return self._modes[server]

    def forget(self, address: str, model: str) -> None:
        """Forgets the result: the address may now belong to another server."""
        self._modes.pop((address, model), None)


async def _try(complete: Complete) -> ContinuationMode | None:
    for mode, fields in FIELDS.items():
        try:
            text = await complete({**_TRIAL, **fields})
        except Exception as error:
            if getattr(error, "status_code", None) not in _REFUSALS:
                log.info("Could not check whether the model continues a partial answer: %s", type(error).__name__)
                return None
            continue
        if text.startswith(_GONE_ON):
            return mode
    return "not at all"
