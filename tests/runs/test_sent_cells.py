"""A cell that goes along with a message is one that the model has seen: a write may be based on it, and on no other."""

import json
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.features.notebooks.edit_tools import notebook_edit_cell_tool
from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.notebook.seen_cells import SeenCells
from onyx_jupyter.testing.script import Call
from tests.notebook.shelf import Shelf, code
from tests.runs.house import House

AUTO = json.dumps({"security": {"auto": ["group:notebook"]}})
CHIP = {"type": "cell", "path": "a.ipynb", "cellId": "one"}


def edit(source: str) -> Call:
    return Call("notebook_edit_cell", {"path": "a.ipynb", "cellId": "one", "source": source})


@pytest.fixture
def shelf() -> Shelf:
    return Shelf(a=[code("one", "x = 1"), code("two", "y = 2")])


def open_house(folder: Path, shelf: Shelf, *replies: Any) -> House:
    return House(folder, replies, config=AUTO, more_tools=[notebook_edit_cell_tool], notebooks=shelf)


def types(shelf: Shelf, source: str) -> None:
    """What a person does in the meantime."""
    shelf.notebooks["a.ipynb"][0]["source"] = source


def source(shelf: Shelf) -> str:
    return str(shelf.notebooks["a.ipynb"][0]["source"])


async def test_attached_cell_can_be_edited_without_reading_it(tmp_path: Path, shelf: Shelf) -> None:
    house = open_house(tmp_path, shelf, [edit("x = 10")], "Done.", [edit("x = 12")], "Done.")
    key = await house.session()
    await house.run(key, mode="auto")
    types(shelf, "x = 11")
    sent = await house.onyx.send(key, "One more", mode="auto", context=[CHIP])
    await house.end(sent.run_id)
    assert sent.context[0]["hash"] == cell_hash("x = 11")
    assert source(shelf) == "x = 12"


async def test_without_attachment_model_is_shown_current_text(tmp_path: Path, shelf: Shelf) -> None:
    house = open_house(tmp_path, shelf, [edit("x = 10")], "Done.", [edit("x = 12")], "Done.")
    key = await house.session()
    await house.run(key, mode="auto")
    types(shelf, "x = 11")
    await house.run(key, mode="auto", context=[{"type": "notebook", "path": "a.ipynb"}])
    assert source(shelf) == "x = 11"
    assert "x = 11" in list(house.results(key).values())[-1]["content"]


@pytest.mark.parametrize("path", ["a.ipynb", "RTC:a.ipynb"])
async def test_text_typed_after_sending_is_not_overwritten(tmp_path: Path, shelf: Shelf, path: str) -> None:
    house = open_house(tmp_path, shelf, [Call("linger")], [edit("x = 12")], "I see.")
    key = await house.session()
    run_id = await house.send(key, mode="auto", context=[{**CHIP, "path": path}])
    await house.linger.started.wait()
    types(shelf, "x = 99")
    house.linger.released.set()
    await house.end(run_id)
    assert source(shelf) == "x = 99"
    assert "x = 99" in list(house.results(key).values())[-1]["content"]


async def test_cell_attached_during_run_counts_once_model_has_it(tmp_path: Path, shelf: Shelf) -> None:
    replies = [[edit("x = 10"), Call("linger")], [edit("x = 12")], "Done."]
    house = open_house(tmp_path, shelf, *replies)
    key = await house.session()
    run_id = await house.send(key, mode="auto")
    await house.linger.started.wait()
    types(shelf, "x = 11")
    await house.onyx.send(key, "Mind this", mode="auto", context=[CHIP])
    seen_cells = house.onyx.runs._maker._seen_cells[key]
    assert seen_cells.hash_of("a.ipynb", "one") == cell_hash("x = 10")  # it has not joined yet
    house.linger.released.set()
    await house.end(run_id)
    assert source(shelf) == "x = 12"


async def test_truncated_or_redacted_cell_counts_as_unseen(tmp_path: Path, shelf: Shelf) -> None:
    long, secret = "x = 1\n" * 5_000, "api_key = 'sk-proj-" + "a1B2c3D4" * 6 + "'"
    house = open_house(tmp_path, shelf, [edit("x = 10")], "Done.", [edit("x = 12")], "Done.", [edit("x = 12")], "Done.")
    key = await house.session()
    await house.run(key, mode="auto")
    for typed in (long, secret):
        types(shelf, typed)
        sent = await house.onyx.send(key, "And now", mode="auto", context=[CHIP])
        await house.end(sent.run_id)
        assert "hash" not in sent.context[0]
        assert typed not in sent.context[0]["text"]
    assert source(shelf) == secret


async def test_error_includes_its_cell_and_client_hash_is_ignored(tmp_path: Path, shelf: Shelf) -> None:
    failed = {"output_type": "error", "ename": "KeyError", "evalue": "'m'", "traceback": ["KeyError: 'm'"]}
    shelf.notebooks["a.ipynb"][0]["outputs"] = [failed]
    house = open_house(tmp_path, shelf)
    key = await house.session()
    (error,) = await house.onyx.conversations.preview_context(key, [{**CHIP, "type": "error"}], None)
    assert error["hash"] == cell_hash("x = 1")
    claimed = {**CHIP, "text": "what the tab read", "hash": cell_hash("x = 1")}
    (item,) = await house.onyx.conversations.preview_context(key, [claimed], None)
    assert "hash" not in item


def test_notebook_is_recognized_under_another_path() -> None:
    seen_cells = SeenCells()
    seen_cells.wrote("link.ipynb", "one", "h1")
    seen_cells.called("link.ipynb", "a.ipynb")
    assert seen_cells.hash_of("a.ipynb", "one") == seen_cells.hash_of("link.ipynb", "one") == "h1"
