"""An agent changes notebooks with Onyx's tools: after an approval, recorded, and undone like any other turn."""

import json

from onyx_jupyter.features.notebooks.feature import NOTEBOOK_REVIEW
from tests.acp.agent_house import AgentHouse
from tests.notebook.shelf import Shelf, code


def insert(source: str) -> str:
    return f"call notebook_insert_cell {json.dumps({'path': 'a.ipynb', 'cellType': 'code', 'source': source})}"


async def test_agent_inserts_a_cell_after_an_approval_and_it_can_be_undone(tmp_path):
    shelf = Shelf(a=[code("one", "x = 1")])
    async with AgentHouse(tmp_path, tools=True, notebooks=shelf) as house:
        key = await house.agent_session()
        run_id = await house.send(key, insert("x = 2"))
        await house.asked()
        (card,) = house.of("exec.approval_request")
        assert (card["toolName"], card["details"]["source"]) == ("notebook_insert_cell", "x = 2")
        assert [cell["source"] for cell in shelf.notebooks["a.ipynb"]] == ["x = 1"]
        await house.approve()
        await house.end(run_id)
        assert [cell["source"] for cell in shelf.notebooks["a.ipynb"]] == ["x = 1", "x = 2"]
        assert "[ok] Inserted code cell" in house.text()
        assert [one["tool"] for one in house.of("tool.finished")] == ["notebook_insert_cell"]
        await house.onyx.get(NOTEBOOK_REVIEW).undo(key, run_id, "ada")
        assert [cell["source"] for cell in shelf.notebooks["a.ipynb"]] == ["x = 1"]


async def test_auto_mode_covers_the_agents_changes_of_notebooks(tmp_path):
    shelf = Shelf(a=[code("one", "x = 1")])
    async with AgentHouse(tmp_path, tools=True, notebooks=shelf) as house:
        await house.do(await house.agent_session(), insert("x = 2"), mode="auto")
        assert house.of("exec.approval_request") == []
        assert len(shelf.notebooks["a.ipynb"]) == 2
