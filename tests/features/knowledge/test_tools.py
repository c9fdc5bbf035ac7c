"""The agent's way to documents: what a person is asked before one is added, and a turn that does not wait for ever."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from onyx_jupyter.protocols import KnowledgeAnswer, KnowledgeItem
from onyx_jupyter.toolsets.context import ToolContext
from tests.features.tool_calls import ToolCalls

Make = Callable[..., ToolContext]
CALLS = ToolCalls()
run, preview = CALLS.run, CALLS.preview
ITEM = KnowledgeItem("one", "path", "big.pdf", "big.pdf", "2026-11-22T10:00:00Z", "waiting", 0, 0, 0)


@dataclass
class SlowKnowledge:
    """Reads a file of two, and then nothing more; `asked` are the searches."""

    asked: list[dict[str, Any]]

    async def search(self, query: str, **more: Any) -> KnowledgeAnswer:
        self.asked.append({"query": query, **more})
        return KnowledgeAnswer(())

    async def add(self, where: str, agent_id: str | None, *, is_url: bool) -> KnowledgeItem:
        return ITEM

    async def finished(self, item_id: str, progress: Callable[[KnowledgeItem], None]) -> KnowledgeItem:
        progress(replace(ITEM, state="reading", done=1, total=2, chunks=7))
        await asyncio.Event().wait()
        raise AssertionError("it never ends")


@pytest.mark.parametrize(
    ("where", "must_ask"),
    [
        ({"url": "https://tides.example/today"}, "it adds a page to what every conversation may find"),
        ({"path": "a"}, ""),
    ],
)
async def test_page_always_needs_approval(make_context: Make, where: dict, must_ask: str) -> None:
    assert (await preview(make_context(), "knowledge_add", **where)).must_ask == must_ask


async def test_turn_does_not_wait_for_slow_document(make_context: Make) -> None:
    told: list[str] = []
    knowledge = SlowKnowledge([])
    context = make_context(knowledge=knowledge, timeout_s=0.01, progress=told.append)
    result = await run(context, "knowledge_add", path="big.pdf")
    assert json.loads(result.output) == {
        "path": "big.pdf",
        "files": 2,
        "passages": 7,
        "note": "It is still being read in the background; what has been read can already be found.",
    }
    assert (result.ok, told) == (True, ["1 of 2 files, 7 passages"])


async def test_search_uses_asking_agents_documents(make_context: Make) -> None:
    knowledge = SlowKnowledge([])
    await run(make_context(knowledge=knowledge, agent_id="b"), "knowledge_search", query="anchor")
    assert [(asked["agent_id"], asked["limit"]) for asked in knowledge.asked] == [("b", None)], "as many as configured"
