"""Fences what a tool brought in from outside before a model reads it. It never drops a text for what it says."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from dataclasses import replace

from onyx_jupyter.agent.processor import Processor
from onyx_jupyter.messages import ToolCall, ToolResult
from onyx_jupyter.security.external_content import fence

_BOUNDARY_CHARS = 16


class InjectionGuard(Processor):
    """Every result with `external` set gets a fence whose boundary no text can foresee.

    The boundary follows from the text and a random key of this run: a page that was shown an earlier boundary gets
    another one, and a result that comes again unchanged is still seen to be the same. The fence is part of what is
    written down, so later requests repeat it byte for byte.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key or secrets.token_bytes(32)

    async def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
        if result.external is None:
            return result
        return replace(result, output=await asyncio.to_thread(self._fenced, result.output, result.external))

    def _fenced(self, text: str, source: str) -> str:
        seal = hmac.new(self._key, f"{source}\n{text}".encode(errors="surrogatepass"), "sha256")
        return fence(text, source, seal.hexdigest()[:_BOUNDARY_CHARS]).text
