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


async def test_what_is_written_can_be_read_again(make_context: Make) -> None:
    context = make_context()
    written = await run(context, "memory_write", content="- Fiscal year starts in April", target="MEMORY.md#Facts")
    assert written.output == "Added to MEMORY.md."
    read = await run(context, "memory_get", path="MEMORY.md", **{"from": 3, "lines": 1})
    assert read.output == "- Fiscal year starts in April\n"


async def test_a_person_sees_where_a_memory_goes_before_it_is_written(make_context: Make) -> None:
    context = make_context()
    shown = await preview(context, "memory_write", content="x", target="MEMORY.md#Facts")
    assert shown.summary == 'Add to "Facts" in MEMORY.md'
    assert shown.details == {"path": "MEMORY.md#Facts", "content": "x"}
    today = await preview(context, "memory_write", content="x")
    assert today.details["path"].startswith("memory/20")
    assert today.grant != shown.grant
    assert list(context.workspace.iterdir()) == []


async def test_a_bad_target_fails_before_anybody_is_asked(make_context: Make) -> None:
    with pytest.raises(ToolError, match="not a place for a memory"):
        await preview(make_context(), "memory_write", content="x", target="SOUL.md")


async def test_a_search_that_finds_nothing_says_where_else_to_look_by_tools_that_there_are(make_context: Make) -> None:
    names = {tool.name for tool in all_tools()}
    for found, says in (((), True), ((Found("memory", "main", "MEMORY.md", 1, 1, "", "tea", 0.5),), False)):
        context = replace(make_context(), memory_search=Notes(SearchAnswer(found, "By words alone.")))
        answer = json.loads((await run(context, "memory_search", query="tea")).output)
        assert answer["note"].startswith("By words alone.")
        assert [name in answer["note"] and name in names for name in ("sessions_search", "knowledge_search")] == [
            says,
            says,
        ]


async def test_a_search_may_be_for_some_days_and_places_alone(make_context: Make) -> None:
    notes = Notes(SearchAnswer(()))
    context = make_context(memory_search=notes)
    asked = {"since": "2026-01-05", "until": "2026-01-11", "paths": ["onyx:memory/", "shared/"], "limit": 3}
    answer = json.loads((await run(context, "memory_search", query="tea", **asked)).output)
    only = SearchFilter(paths=["memory/", "shared/"], since=date(2026, 1, 5), until=date(2026, 1, 11))
    assert notes.asked == [{"only": only, "limit": 3, "min_score": None}]
    assert "undated files were left out" in answer["note"]
    assert "without a date" not in (await run(context, "memory_search", query="tea", paths=["MEMORY.md"])).output


@pytest.mark.parametrize("since", ["last week", "2026-02-30", "", "2026-01-05T10:00:00Z"])
async def test_what_is_no_day_is_refused_and_no_day_lies_between_two_in_the_wrong_order(
    make_context: Make, since: str
) -> None:
    notes = Notes(SearchAnswer(()))
    for days, reason in (
        ({"since": since}, "`since` is .* not a date"),
        ({"until": since}, "`until` is .* not a date"),
        ({"since": "2026-01-11", "until": "2026-01-05"}, "no day lies between"),
    ):
        with pytest.raises(InvalidArguments, match=reason):
            await run(make_context(memory_search=notes), "memory_search", query="tea", **days)
    assert notes.asked == []


async def test_the_history_of_a_file_names_the_conversation_of_each_state(make_context: Make, tmp_path: Path) -> None:
    clock = SystemClock()
    context = make_context(
        memory=MemoryFiles(tmp_path / "workspace", clock, versions=VersionStore(tmp_path / "versions", clock))
    )
    (context.workspace / "MEMORY.md").write_text("- by hand\n")
    await context.memory.versions("MEMORY.md")
    await context.memory.write("- said", "MEMORY.md", session_key="01S")
    versions = json.loads((await run(context, "memory_history", path="MEMORY.md")).output)["versions"]
    assert [(version["author"], version.get("session")) for version in versions] == [("agent", "01S"), ("user", None)]


async def test_a_long_file_is_cut_in_the_middle_and_says_so(make_context: Make) -> None:
    context = make_context(max_output_bytes=100)
    (context.workspace / "MEMORY.md").write_text("a" * 5000)
    result = await run(context, "memory_get", path="MEMORY.md")
    assert result.truncated
    assert "4900 bytes left out" in result.output


async def test_a_former_state_comes_back_only_with_a_yes_to_what_it_would_change_now(
    make_context: Make, tmp_path: Path
) -> None:
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
