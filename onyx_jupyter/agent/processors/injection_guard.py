"""Fences tool results before a model reads them. No text is dropped because of its content."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from onyx_jupyter.agent.processor import Processor
from onyx_jupyter.messages import ToolCall, ToolResult
from onyx_jupyter.security.external_content import Fences, escape_marks


class InjectionGuard(Processor):
    """Puts a fence around everything in a result that the tool does not declare as Onyx's own words or the person's.

    A tool that declares nothing has its whole result fenced. The boundary is derived from the text and a random key of
    this run: a page that has seen an earlier boundary gets a different one, and an unchanged result is still recognised
    as the same. The fence is saved with the result, so later requests repeat it byte for byte.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._fences = Fences(key)

    async def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
        # In a thread, since a result may be a megabyte.
        return replace(result, output=await asyncio.to_thread(self._shown, call.name, result))

    def _shown(self, tool: str, result: ToolResult) -> str:
        if result.origin == "person":
            return result.output
        if result.origin == "own":
            return escape_marks(result.output)
        before, text, after = result.parts
        if not text.strip():
            return escape_marks(before + text + after)
        source = result.external or tool
        fenced = (self._fences.memory if result.origin == "memory" else self._fences.external)(text, source)
        return escape_marks(before) + fenced + escape_marks(after)
