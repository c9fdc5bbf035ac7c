"""The labels of each built-in tool's results, and where their links lead."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.config.schema import WebConfig
from onyx_jupyter.errors import NotebookError, OnyxError
from onyx_jupyter.features.processes.exec_tool import make_exec_tool
from onyx_jupyter.memory.fact_store import FactStore
from onyx_jupyter.messages import Link, ToolCall, ToolResult
from onyx_jupyter.protocols import OtherSession, SessionMessage, UserAnswer
from onyx_jupyter.result_data import MAX_CELLS
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.registry import ToolRegistry, failed
from onyx_jupyter.toolsets.results import completed
from tests.features.notebooks.desk import PATH, Desk, lettered
from tests.notebook.fake_tab import tab_cell
from tests.web.web_place import Answer, web_place

Make = Callable[..., ToolContext]
TO_NOTEBOOK = Link("file", PATH)


async def ran(context: ToolContext, name: str, **arguments: Any) -> ToolResult:
    """The result as it is written down and told."""
    call, registry = ToolCall("1", name, arguments), ToolRegistry(all_tools())
    try:
        tool, checked = registry.validate(call)
        await tool.preview(checked, context)
        result = await tool.call(checked, context)
    except OnyxError as error:
        result = failed(name, error)
    return completed(call, result, "ok" if result.ok else "failed", registry.activity(name))


def line(result: ToolResult) -> tuple[str, str, str]:
    assert result.label is not None
    return result.label.action, result.label.object, result.label.object_kind


def links(result: ToolResult) -> list[Link]:
    assert result.label is not None
    return list(result.label.links)


def failure(result: ToolResult) -> tuple[str, str] | None:
    return (result.failure.kind, result.failure.reason) if result.failure else None


class OnNotebook:
    """The notebook tools as a run calls them, completed."""

    def __init__(self, make_context: Make, cells: list[dict[str, Any]]) -> None:
        self.desk = Desk(make_context, cells)

    async def __call__(self, name: str, **arguments: Any) -> ToolResult:
        self.desk.calls += 1
        self.desk.context = replace(self.desk.context, call_id=f"c{self.desk.calls}")
        return await ran(self.desk.context, name, path=PATH, **arguments)


@pytest.fixture
def on_notebook(make_context: Make) -> OnNotebook:
    return OnNotebook(
        make_context, [tab_cell("t", "# Load", "markdown"), tab_cell("l", "x = 1"), tab_cell("m", "x = 2")]
    )


def told(*cells: tuple[int, str]) -> list[dict[str, Any]]:
    return [{"number": number, "id": cell_id} for number, cell_id in cells]


@pytest.mark.parametrize("tool", ["notebook_outline", "notebook_read"])
async def test_notebook_read_names_shown_cells(on_notebook: OnNotebook, tool: str) -> None:
    result = await on_notebook(tool, **{"from": 2})
    assert result.data == {"notebook": PATH, "total": 3, "cells": told((2, "l"), (3, "m"))}
    assert line(result)[1:] == (PATH, "path")
    assert links(result) == [TO_NOTEBOOK]


async def test_notebook_search_names_found_cells(on_notebook: OnNotebook) -> None:
    result = await on_notebook("notebook_find", pattern="x = 2")
    assert result.data == {"notebook": PATH, "total": 3, "cells": told((3, "m"))}
    assert line(result) == ("search_notebook", "x = 2", "code")


async def test_number_of_cells_is_bounded(make_context: Make) -> None:
    desk = OnNotebook(make_context, [tab_cell(f"c{n}", "x") for n in range(MAX_CELLS + 100)])
    result = await desk("notebook_outline")
    assert result.data is not None
    assert result.data["total"] == MAX_CELLS + 100
    assert len(result.data["cells"]) <= MAX_CELLS


@pytest.mark.parametrize(
    ("place", "at"),
    [
        ({}, {"at": "end"}),
        ({"atStart": True}, {"at": "start"}),
        ({"afterCellId": "t"}, {"at": "after", "after": "t"}),
    ],
)
async def test_inserted_cell_has_position_and_link(
    on_notebook: OnNotebook, place: dict[str, Any], at: dict[str, str]
) -> None:
    before = on_notebook.desk.ids
    result = await on_notebook("notebook_insert_cell", cellType="code", source="y = 1", **place)
    (new,) = set(on_notebook.desk.ids) - set(before)
    assert result.data == {"notebook": PATH, "inserted": {"id": new, **at}}
    assert line(result) == ("insert_cell", PATH, "path")
    assert links(result) == [Link("cell", PATH, new), TO_NOTEBOOK]


async def test_insert_and_run_says_both_even_on_failure(on_notebook: OnNotebook) -> None:
    result = await on_notebook("notebook_insert_cell", cellType="code", source="print(1)", run=True)
    new = on_notebook.desk.ids[-1]
    ran_ok = [{"id": new, "status": "ok"}]
    assert result.data == {"notebook": PATH, "ran": ran_ok, "inserted": {"id": new, "at": "end"}}
    assert line(result)[0] == "insert_and_run_cell"
    raised = await on_notebook("notebook_insert_cell", cellType="code", source="1 / 0", run=True)
    new = on_notebook.desk.ids[-1]
    assert failure(raised) == ("failed", f"Cell {new} [2] raised an error.")
    assert links(raised) == [Link("cell", PATH, new)]
    assert raised.data is not None
    assert raised.data["inserted"]["id"] == new


async def test_cell_written_without_running_says_why(on_notebook: OnNotebook, monkeypatch) -> None:
    async def refuse(*args: Any, **more: Any) -> None:
        raise NotebookError("no_kernel", "It did not start.")

    monkeypatch.setattr(on_notebook.desk.context.notebooks, "run_cell", refuse)
    result = await on_notebook("notebook_insert_cell", cellType="code", source="print(1)", run=True)
    assert failure(result) == ("unavailable", "The cell stays; running it failed (no_kernel): It did not start.")
    assert result.data == {"notebook": PATH, "inserted": {"id": on_notebook.desk.ids[-1], "at": "end"}}


async def test_edited_and_run_cells_have_links(on_notebook: OnNotebook) -> None:
    await on_notebook("notebook_read")
    edited = await on_notebook("notebook_edit_cell", cellId="l", source="x = 3")
    assert (line(edited)[0], links(edited)) == ("edit_cell", [Link("cell", PATH, "l"), TO_NOTEBOOK])
    done = await on_notebook("notebook_run_cell", cellId="m")
    assert done.data == {"notebook": PATH, "ran": [{"id": "m", "status": "ok"}]}
    assert links(done) == [Link("cell", PATH, "m"), TO_NOTEBOOK]
    missing = await on_notebook("notebook_run_cell", cellId="none")
    assert missing.failure is not None
    assert missing.failure.kind == "not_found"


async def test_moved_and_deleted_cells_have_no_fixed_links(on_notebook: OnNotebook) -> None:
    await on_notebook("notebook_read")
    moved = await on_notebook("notebook_move_cell", cellId="m", atStart=True)
    assert moved.data == {"notebook": PATH, "moved": True}
    deleted = await on_notebook("notebook_delete_cell", cellIds=["l", "m", "l"])
    assert deleted.data == {"notebook": PATH, "moved": True}
    assert deleted.label is not None
    assert (deleted.label.action, deleted.label.count) == ("delete_cells", 2)


async def test_run_cells_have_number_and_id(make_context: Make) -> None:
    desk = OnNotebook(make_context, lettered(3))
    desk.desk.type("b", "1 / 0")
    result = await desk("notebook_run_all")
    assert result.data == {
        "notebook": PATH,
        "ran": [{"number": 1, "id": "a", "status": "ok"}, {"number": 2, "id": "b", "status": "error"}],
    }
    assert failure(result) == ("failed", "Cell 2 (b) raised an error; 1 ran before it, 1 was not run.")
    restarted = await desk("notebook_restart_kernel", runAll=True)
    assert line(restarted)[0] == "restart_and_run"


async def test_files_and_folders(make_context: Make) -> None:
    context = make_context()
    written = await ran(context, "write", path="a.py", content="x = 1\n")
    assert (line(written), links(written)) == (("write_file", "a.py", "path"), [Link("file", "a.py")])
    edited = await ran(context, "edit", path="a.py", oldText="1", newText="2")
    assert (line(edited)[0], links(edited)) == ("edit_file", [Link("file", "a.py")])
    read = await ran(context, "read", path="a.py")
    assert (line(read)[0], links(read)) == ("read_file", [Link("file", "a.py")])
    assert line(await ran(context, "list")) == ("list_folder", "/", "path")
    assert line(await ran(context, "search", pattern="x =")) == ("search_files", "x =", "code")
    missing = await ran(context, "read", path="b.py")
    assert links(missing) == []
    assert missing.failure is not None
    outside = await ran(context, "read", path="/etc/passwd")
    assert outside.failure is not None
    assert outside.failure.kind == "denied"


async def test_commands(make_context: Make) -> None:
    context = make_context()
    assert line(await ran(context, "exec", command="echo hi")) == ("run_command", "echo hi", "code")
    wrong = await ran(context, "exec", command="echo half; echo wrong >&2; exit 3")
    assert failure(wrong) == ("failed", "wrong")
    assert failure(await ran(context, "exec", command="exit 3")) == ("failed", "exit code 3")
    late = await ran(context, "exec", command="echo begun; sleep 30", timeoutMs=1000)
    assert late.failure is not None
    assert late.failure.kind == "timed_out"
    assert late.failure.reason.startswith("still running after 1 s")
    listed = await ran(context, "process", action="list")
    assert line(listed)[0] == "list_jobs"
    assert make_exec_tool().activity is not None


async def test_memory(make_context: Make, tmp_path) -> None:
    context = make_context()
    context = replace(context, facts=FactStore(context.memory, FakeClock()))
    written = await ran(context, "memory_write", content="- April", target="MEMORY.md#Facts")
    assert (line(written)[0], links(written)) == ("write_memory", [Link("memory", "MEMORY.md")])
    read = await ran(context, "memory_get", path="MEMORY.md", **{"from": 1, "lines": 2})
    assert links(read) == [Link("memory", "MEMORY.md", lines=(1, 2)), Link("file", "onyx:MEMORY.md")]
    kept = await ran(context, "remember", fact="Works in Oslo")
    assert line(kept) == ("remember", "Works in Oslo", "text")
    assert links(kept) == [Link("memory", "memory/facts.jsonl", fact="f1")]
    assert links(await ran(context, "remember", fact="works in Oslo!")) == links(kept)
    assert line(await ran(context, "forget", pattern="Oslo")) == ("forget", "Oslo", "text")


async def test_the_web(make_context: Make) -> None:
    with web_place(
        lambda asked: Answer(b"otters" if asked.path == "/a" else b"gone", 200 if asked.path == "/a" else 404)
    ) as place:
        context = make_context(web=WebConfig(allow_private=[f"127.0.0.1:{place.port}"]))
        page = await ran(context, "web_fetch", url=f"{place.url}/a")
        assert line(page) == ("read_page", f"{place.url}/a", "address")
        sent = await ran(context, "http_fetch", method="PUT", url=f"{place.url}/a", body="x")
        assert line(sent) == ("send_request", f"PUT {place.url}/a", "address")
        gone = await ran(context, "web_fetch", url=f"{place.url}/b")
        assert gone.failure is not None
        assert gone.failure.kind == "failed"


class OneOther:
    """Sessions of which there is one other."""

    other = OtherSession("k", "Churn", "2026-01-01T00:00:00Z", "Hello")

    async def list(self) -> Sequence[OtherSession]:
        return [self.other]

    async def get(self, session_key: str) -> OtherSession:
        return self.other

    async def history(self, session_key: str) -> Sequence[SessionMessage]:
        return []


async def test_other_sessions(make_context: Make) -> None:
    context = make_context(sessions=OneOther())
    assert line(await ran(context, "sessions_list", query="churn")) == ("list_sessions", "churn", "text")
    assert line(await ran(context, "sessions_history", sessionKey="k"))[0] == "read_session"


async def test_a_question_to_a_person(make_context: Make) -> None:
    async def answer(question: Any) -> UserAnswer:
        return UserAnswer("b\nand more")

    result = await ran(make_context(ask=answer), "ask_user", question="Which?")
    assert line(result) == ("ask_person", "Which?", "text")
    assert result.data == {"answer": "b\nand more"}
    assert failure(await ran(make_context(), "ask_user", question="Which?")) is not None
