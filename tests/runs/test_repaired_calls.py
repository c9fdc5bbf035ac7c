"""A call that is taken as what it means: asked about as it runs, written down as it was called, told to the model."""

import json

import pytest

from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.features.notebooks.edit_tools import notebook_edit_cell_tool, notebook_insert_cell_tool
from onyx_jupyter.features.notebooks.run_tools import notebook_run_cell_tool
from onyx_jupyter.testing.script import Call
from tests.notebook.shelf import Shelf, code
from tests.runs.house import House
from tests.waiting import until

WRONG = Call("notebook_run_cell", {"path": "a.ipynb", "source": "```python\nx = 2\n```"})
TAKEN = {"path": "a.ipynb", "cellType": "code", "source": "x = 2", "run": True}


def open_house(folder, replies, shelf, **more):
    tools = [notebook_insert_cell_tool, notebook_edit_cell_tool, notebook_run_cell_tool]
    return House(folder, replies, notebooks=shelf, more_tools=tools, **more)


async def test_card_shows_repaired_call_and_transcript_the_original(tmp_path):
    shelf = Shelf(a=[code("one", "x = 1")])
    house = open_house(tmp_path, [[WRONG], "Done"], shelf)
    key = await house.session()
    run_id = await house.send(key)
    await house.asked()
    (card,) = house.of("exec.approval_request")
    assert card["toolName"] == "notebook_insert_cell"
    assert card["summary"] == "Insert a code cell at the end of a.ipynb and run it"
    assert card["details"]["source"] == "x = 2"
    await house.approve()
    await house.end(run_id)
    assert [cell["source"] for cell in shelf.notebooks["a.ipynb"]] == ["x = 1", "x = 2"]
    (call,) = [line["tool_calls"][0] for line in house.lines(key) if line.get("tool_calls")]
    assert (call["name"], call["arguments"]) == (WRONG.name, WRONG.arguments)
    (result,) = house.results(key).values()
    assert result["meta"]["takenAs"] == {"tool": "notebook_insert_cell", "arguments": TAKEN}
    taken = json.dumps({"name": "notebook_insert_cell", "arguments": TAKEN})
    assert result["content"].endswith(f"\n(Taken as {taken}; without the code fence)")
    audited = [json.loads(line) for line in house.home.audit_file.read_text("utf-8").splitlines()]
    decided = next(line for line in audited if line["event"] == "decision")
    assert decided["tool"] == "notebook_insert_cell"
    assert next(line for line in audited if line["event"] == "tool")["takenAs"]["arguments"] == TAKEN


async def test_approval_of_repaired_call_survives_restart(tmp_path):
    shelf = Shelf(a=[code("one", "x = 1")])
    before = open_house(tmp_path, [[WRONG], "Done"], shelf)
    key = await before.session()
    await before.send(key)
    approval_id = await before.asked()
    await before.close()
    house = open_house(tmp_path, ["Done"], shelf)
    await house.onyx.ready()
    assert await house.asked(key) == approval_id
    assert house.onyx.approvals.pending()[0].request.tool_name == "notebook_insert_cell"
    await house.approve()
    await until(lambda: not house.onyx.runs.busy)
    assert [cell["source"] for cell in shelf.notebooks["a.ipynb"]] == ["x = 1", "x = 2"]


@pytest.mark.parametrize(("goes_to", "asks"), [("a.ipynb", True), ("b.ipynb", False)])
async def test_omitted_notebook_is_current_one_unless_user_moved_on(tmp_path, goes_to, asks):
    front = ["a.ipynb"]

    def reply(request):
        front[0] = goes_to
        return "Done" if request.messages[-1].role == "tool" else [Call("notebook_run_cell", {"cellId": "last"})]

    shelf = Shelf(a=[code("one", "x = 1")], b=[code("two", "y = 2")])
    house = open_house(tmp_path, reply, shelf, open_notebooks=lambda: (["a.ipynb", "b.ipynb"], front[0]))
    key = await house.session()
    run_id = await house.send(key)
    if asks:
        await house.asked()
        details = house.of("exec.approval_request")[0]["details"]
        assert (details["path"], details["cellId"]) == ("a.ipynb", "one")
        await house.deny()
    await house.end(run_id)
    assert len(house.of("exec.approval_request")) == asks
    (result,) = house.results(key).values()
    assert ("`path` is missing" in result["content"]) is not asks


async def test_denied_repaired_call_is_reported_as_repaired(tmp_path):
    shelf = Shelf(a=[code("one", "x = 1")])
    house = open_house(tmp_path, [[WRONG], "Done"], shelf)
    key = await house.session()
    run_id = await house.send(key)
    await house.asked()
    await house.deny("not now")
    await house.end(run_id)
    assert len(shelf.notebooks["a.ipynb"]) == 1
    (result,) = house.results(key).values()
    assert result["content"].startswith("Denied: not now\n(Taken as ")


async def test_denied_tool_is_not_reached_through_another_name(tmp_path):
    shelf = Shelf(a=[code("one", "x = 1")])
    house = open_house(tmp_path, [[WRONG], "Done"], shelf, ceiling=Ceiling(deny=["notebook_insert_cell"]))
    key = await house.session()
    await house.run(key)
    assert len(shelf.notebooks["a.ipynb"]) == 1
    assert house.of("exec.approval_request") == []


async def test_ask_mode_repairs_nothing_into_a_change(tmp_path):
    shelf = Shelf(a=[code("one", "x = 1")])
    house = open_house(tmp_path, [[WRONG, Call("insert_cell", TAKEN)], "Done"], shelf)
    key = await house.session()
    await house.run(key, mode="ask")
    assert len(shelf.notebooks["a.ipynb"]) == 1
    assert house.of("exec.approval_request") == []
