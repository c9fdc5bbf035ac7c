"""A repaired call matches its schema and is approved as it runs; a valid call is never repaired."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.errors import ToolError
from onyx_jupyter.features.notebooks.edit_tools import notebook_edit_cell_tool, notebook_insert_cell_tool
from onyx_jupyter.features.notebooks.run_tools import notebook_run_cell_tool
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.script import Call
from onyx_jupyter.toolsets.call_repair import RepairedCall, repair_call
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.registry import ToolRegistry
from tests.notebook.shelf import Shelf, code
from tests.runs.house import House
from tests.waiting import until

REGISTRY = ToolRegistry(all_tools())
RISKS = ("read", "network", "write", "execute")
FENCED = "```python\nx = 1\n```"
IDS = ("one", "two", "three")
NAMES = st.one_of(
    st.sampled_from(REGISTRY.names),
    st.sampled_from(["notebook_run_cell", "notebook_insert_cell", "notebook_edit_cell", "kernel_execute"]),
    st.sampled_from(["insert_cell", "functions.exec", "run", "notebookReadCell", "delete", ""]),
)
KEYS = sorted({name for tool in REGISTRY.names for name in REGISTRY.get(tool).schema()["properties"]})
OTHER_KEYS = ["cell_id", "cell", "id", "notebook", "code", "text", "after", "cell_type", "old_string", "execute", "cmd"]
TEXTS = ["a.ipynb", "code", "markdown", "x = 1", FENCED, *IDS, "2", "cell 3", "last", "first", "end", "none-such", ""]
VALUES = st.sampled_from([*TEXTS, True, False, 0, 2, 9, None, ["one", 2], ["a\n", "b"], {"a": 1}])
ARGUMENTS = st.dictionaries(st.sampled_from([*KEYS, *OTHER_KEYS]), VALUES, max_size=5)
CELL_ARGUMENTS = st.dictionaries(
    st.sampled_from(["path", "cellId", "source", "cellType", "afterCellId", "run", "atStart", *OTHER_KEYS]), VALUES
)
CALLS = st.builds(lambda name, given: ToolCall("1", name, given), NAMES, st.one_of(ARGUMENTS, CELL_ARGUMENTS))


def shelf() -> Shelf:
    return Shelf(a=[code("one", "a"), code("two", "b"), {**code("three", "# c"), "cell_type": "markdown"}])


def context(folder: Path) -> ToolContext:
    """As a run has it, with a.ipynb in front."""
    clock = FakeClock()
    return ToolContext(
        session_key="s",
        agent_id="main",
        run_id="r",
        call_id="1",
        workspace=folder / "workspace",
        server_root=folder,
        paths=PathGuard(folder, folder / "workspace"),
        notebooks=shelf(),
        memory=MemoryFiles(folder / "workspace", clock),
        clock=clock,
        timeout_s=30.0,
        max_output_bytes=100_000,
        progress=lambda line: None,
        notebook_in_front="a.ipynb",
    )


def taken(call: ToolCall) -> RepairedCall | None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return asyncio.run(repair_call(call, REGISTRY, context(Path(folder))))
        except ToolError:
            return None


def works(call: ToolCall) -> bool:
    """Whether it fits its schema, names cells that are there and no other words for them, and is no fenced code."""
    try:
        REGISTRY.validate(call)
    except ToolError:
        return False
    values = [*call.arguments.values(), *(call.arguments.get("cellIds") or ())]
    cells = [call.arguments.get(key) for key in ("cellId", "afterCellId", "fromCellId", "toCellId")]
    cells += call.arguments.get("cellIds") or []
    return FENCED not in values and all(cell in (None, *IDS) for cell in cells)


@given(CALLS)
def test_repaired_call_matches_schema_and_is_reported(call: ToolCall) -> None:
    found = taken(call)
    if found is None:
        return
    tool, arguments = REGISTRY.validate(found.call)
    assert (tool, arguments) == (found.tool, found.arguments)
    assert found.call.id == call.id
    same = (found.call.name, dict(found.call.arguments)) == (call.name, dict(call.arguments))
    assert bool(found.note) is not same


@given(CALLS)
def test_working_call_is_never_altered(call: ToolCall) -> None:
    if works(call):
        found = taken(call)
        assert found is not None
        assert found.call is call
        assert found.note == ""


@given(CALLS)
def test_reading_call_is_never_repaired_into_a_writing_one(call: ToolCall) -> None:
    found = taken(call)
    if found is not None and call.name in REGISTRY.names and REGISTRY.get(call.name).risk == "read":
        assert RISKS.index(found.tool.risk_of(found.arguments)) <= RISKS.index("network")
        assert found.tool.name == call.name


class RunShelf(Shelf):
    """Notes what was run."""

    def __init__(self) -> None:
        super().__init__(**{name.removesuffix(".ipynb"): cells for name, cells in shelf().notebooks.items()})
        self.ran: list[str] = []

    def run_by_hand(self, path: str, cell_id: str) -> None:
        self.ran.append(self.cell(path, cell_id)["source"])


CELL_CALLS = st.tuples(
    st.sampled_from(["notebook_run_cell", "notebook_insert_cell", "notebook_edit_cell", "run_cell"]),
    st.fixed_dictionaries(
        {"path": st.just("a.ipynb")},
        optional={
            "cellId": st.sampled_from([*IDS, 2, "last", "none-such"]),
            "source": st.sampled_from(["x = 1", FENCED, ["x\n", "y"]]),
            "code": st.just("y = 1"),
            "cellType": st.sampled_from(["code", "markdown"]),
            "afterCellId": st.sampled_from(["one", 1, "none-such"]),
            "run": st.booleans(),
        },
    ),
)


@given(CELL_CALLS)
def test_whatever_runs_was_on_the_card(tmp_path_factory: Any, drawn: tuple[str, dict[str, Any]]) -> None:
    """However it was called: nothing before the yes, and after it what the card said, under the tool that it named."""
    asyncio.run(_play(tmp_path_factory.mktemp("house"), Call(*drawn)))


async def _play(folder: Path, call: Call) -> None:
    notebooks = RunShelf()
    before = [dict(cell) for cell in notebooks.notebooks["a.ipynb"]]
    tools = [notebook_insert_cell_tool, notebook_edit_cell_tool, notebook_run_cell_tool]
    house = House(folder, [[call], "Done"], notebooks=notebooks, more_tools=tools)
    key = await house.session()
    run_id = await house.send(key)
    await until(lambda: house.onyx.approvals.pending() or house.ends(run_id))
    assert notebooks.notebooks["a.ipynb"] == before
    assert notebooks.ran == []
    card = None
    if house.onyx.approvals.pending():
        card = house.of("exec.approval_request")[0]
        await house.approve()
    await house.end(run_id)
    now = [cell["source"] for cell in notebooks.notebooks["a.ipynb"]]
    assert len(house.of("exec.approval_request")) == (card is not None)
    changed = [source for source in now if source not in [cell["source"] for cell in before]]
    if card is None:
        assert (changed, notebooks.ran) == ([], [])
    else:
        source = card["details"].get("newSource", card["details"].get("source"))
        runs = card["toolName"] == "notebook_run_cell" or card["details"].get("run") is True
        assert changed == ([] if card["toolName"] == "notebook_run_cell" else [source])
        assert notebooks.ran == ([source] if runs else [])
    await house.close()
