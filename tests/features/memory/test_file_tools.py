import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.errors import InvalidArguments, MemoryConflict, ToolError
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.protocols import Found, SearchAnswer, SearchFilter
from onyx_jupyter.storage.versions import VersionStore
from onyx_jupyter.toolsets.context import ToolContext
from tests.features.tool_calls import ToolCalls
from tests.memory.interrupted import InterruptedStore

Make = Callable[..., ToolContext]
CALLS = ToolCalls()
run, preview = CALLS.run, CALLS.preview


class Notes:
    """A Search that always answers the same; `asked` is what was asked for beside the words."""

    def __init__(self, answer: SearchAnswer) -> None:
        self.answer = answer
        self.asked: list[dict[str, Any]] = []

    async def search(self, query: str, **more: Any) -> SearchAnswer:
        self.asked.append(more)
        return self.answer


async def test_written_text_can_be_read_back(make_context: Make) -> None:
    context = make_context()
    written = await run(context, "memory_write", content="- Fiscal year starts in April", target="MEMORY.md#Facts")
    assert written.output == "Added to MEMORY.md."
    read = await run(context, "memory_get", path="MEMORY.md", **{"from": 3, "lines": 1})
    assert read.output == "- Fiscal year starts in April\n"


async def test_approval_shows_target_of_memory(make_context: Make) -> None:
    context = make_context()
    shown = await preview(context, "memory_write", content="x", target="MEMORY.md#Facts")
    assert shown.summary == 'Add to "Facts" in MEMORY.md'
    assert shown.details == {"path": "MEMORY.md#Facts", "content": "x"}
    today = await preview(context, "memory_write", content="x")
    assert today.details["path"].startswith("memory/20")
    assert today.grant != shown.grant
    assert list(context.workspace.iterdir()) == []


async def test_invalid_target_fails_before_approval(make_context: Make) -> None:
    with pytest.raises(ToolError, match="not a place for a memory"):
        await preview(make_context(), "memory_write", content="x", target="SOUL.md")


async def test_empty_search_suggests_available_tools(make_context: Make) -> None:
    names = {tool.name for tool in all_tools()}
    for found, says in (((), True), ((Found("memory", "main", "MEMORY.md", 1, 1, "", "tea", 0.5),), False)):
        context = replace(make_context(), memory_search=Notes(SearchAnswer(found, "By words alone.")))
        answer = json.loads((await run(context, "memory_search", query="tea")).output)
        assert answer["note"].startswith("By words alone.")
        assert [name in answer["note"] and name in names for name in ("sessions_search", "knowledge_search")] == [
            says,
            says,
        ]


async def test_search_can_be_limited_to_dates_and_kinds(make_context: Make) -> None:
    notes = Notes(SearchAnswer(()))
    context = make_context(memory_search=notes)
    asked = {"since": "2026-01-05", "until": "2026-01-11", "paths": ["onyx:memory/", "shared/"], "limit": 3}
    answer = json.loads((await run(context, "memory_search", query="tea", **asked)).output)
    only = SearchFilter(paths=["memory/", "shared/"], since=date(2026, 1, 5), until=date(2026, 1, 11))
    assert notes.asked == [{"only": only, "limit": 3, "min_score": None}]
    assert "undated files were left out" in answer["note"]
    assert "without a date" not in (await run(context, "memory_search", query="tea", paths=["MEMORY.md"])).output


@pytest.mark.parametrize("since", ["last week", "2026-02-30", "", "2026-01-05T10:00:00Z"])
async def test_invalid_date_is_rejected_and_reversed_range_is_empty(make_context: Make, since: str) -> None:
    notes = Notes(SearchAnswer(()))
    for days, reason in (
        ({"since": since}, "`since` is .* not a date"),
        ({"until": since}, "`until` is .* not a date"),
        ({"since": "2026-01-11", "until": "2026-01-05"}, "no day lies between"),
    ):
        with pytest.raises(InvalidArguments, match=reason):
            await run(make_context(memory_search=notes), "memory_search", query="tea", **days)
    assert notes.asked == []


async def test_history_names_conversation_of_each_version(make_context: Make, tmp_path: Path) -> None:
    clock = SystemClock()
    context = make_context(
        memory=MemoryFiles(tmp_path / "workspace", clock, versions=VersionStore(tmp_path / "versions", clock))
    )
    (context.workspace / "MEMORY.md").write_text("- by hand\n")
    await context.memory.versions("MEMORY.md")
    await context.memory.write("- said", "MEMORY.md", session_key="01S")
    versions = json.loads((await run(context, "memory_history", path="MEMORY.md")).output)["versions"]
    assert [(version["author"], version.get("session")) for version in versions] == [("agent", "01S"), ("user", None)]


async def test_long_file_is_truncated_in_the_middle_with_note(make_context: Make) -> None:
    context = make_context(max_output_bytes=100)
    (context.workspace / "MEMORY.md").write_text("a" * 5000)
    result = await run(context, "memory_get", path="MEMORY.md")
    assert result.truncated
    assert "4900 bytes left out" in result.output


async def test_restore_needs_approval_of_current_diff(make_context: Make, tmp_path: Path) -> None:
    clock = SystemClock()
    versions = InterruptedStore(tmp_path / "versions", clock)
    context = make_context(memory=MemoryFiles(tmp_path / "workspace", clock, versions=versions))
    file = context.workspace / "MEMORY.md"
    for text in ("- one\n", "- two\n"):
        file.write_text(text)
        await context.memory.versions("MEMORY.md")
    restore = {"path": "MEMORY.md", "action": "restore", "version": 1}
    shown = await preview(context, "memory_history", **restore)
    assert shown.must_ask == "it takes what was written since out of the memory"
    file.write_text("- two\n- three\n")
    assert (await preview(context, "memory_history", **restore)).exactly != shown.exactly
    versions.meanwhile = [lambda: file.write_text("- by hand\n")]  # after the run has looked at the file
    with pytest.raises(MemoryConflict):
        await run(context, "memory_history", **restore)
    assert file.read_text() == "- by hand\n"
    await run(context, "memory_history", **restore)
    assert file.read_text() == "- one\n"
