"""While a person writes, a model of this machine reads what their message will begin with, and no other model does."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.runs.prefill import Draft
from onyx_jupyter.testing.script import Hang
from onyx_jupyter.testing.scripted_model import ScriptedModel
from tests.notebook.shelf import Shelf, code
from tests.runs.house import House
from tests.waiting import until

MODEL = "local/small.gguf"
QUESTION = "What does this notebook do?"


class ReadingModel(ScriptedModel):
    """Keeps what it was to read ahead."""

    def __init__(self, *replies: Any) -> None:
        super().__init__(replies, model_id=MODEL, light=True)
        self.ahead: list[ModelRequest] = []

    async def prefill(self, request: ModelRequest) -> None:
        self.ahead.append(request)


def notebook() -> Shelf:
    return Shelf(a=[code("one", "x = 1"), code("two", "password = 'hunter2-hunter2'")])


def open_house(
    folder: Path, model: ScriptedModel, *, config: str | None = None, shelf: Shelf | None = None, **more: Any
) -> House:
    return House(
        folder,
        models={model.id: model},
        config=config,
        environment={"ONYX_AGENTS__DEFAULTS__MODEL": model.id},
        notebooks=shelf or notebook(),
        open_notebooks=lambda: (["a.ipynb"], "a.ipynb"),
        **more,
    )


async def looked(house: House) -> None:
    """Returns when it is found out what could be read."""
    ahead = house.onyx.prefill
    await until(lambda: ahead._draft_task is None or ahead._draft_task.done())
    await until(lambda: ahead._reading is None or ahead._reading.done())


def begins_with(asked: ModelRequest, read: ModelRequest) -> bool:
    (message,), (beginning,) = asked.messages, read.messages
    return asked.system == read.system and message.content.startswith(f"{beginning.content}\n\n")


@pytest.mark.parametrize("mode", [None, "ask", "auto"])
async def test_first_message_starts_with_prefilled_text(tmp_path: Path, mode: str | None) -> None:
    model = ReadingModel("It sets x.")
    house = open_house(tmp_path, model)
    await house.onyx.ready()
    house.onyx.prefill.composing(Draft(None, QUESTION[:-1], MODEL, mode))
    await looked(house)
    (read,) = model.ahead
    assert "x = 1" in read.messages[0].content
    assert "hunter2" not in read.messages[0].content
    await house.run(await house.session(), QUESTION, mode=mode)
    assert begins_with(model.requests[0], read)


async def test_later_message_starts_with_text_prefilled_after_last_answer(tmp_path: Path) -> None:
    model = ReadingModel("It sets x.", "To one.")
    house = open_house(tmp_path, model)
    key = await house.session()
    await house.run(key, QUESTION)
    house.onyx.prefill.composing(Draft(key, "What does this cell"))
    await looked(house)
    (read,) = model.ahead
    assert "It sets x." in read.messages[0].content
    await house.run(key, "What does this cell mean?")
    assert begins_with(model.requests[1], read)


@pytest.mark.parametrize("written", ["", "  ", "What"])
async def test_before_typing_both_cell_and_text_prompts_are_prefilled(tmp_path: Path, written: str) -> None:
    model = ReadingModel("It sets x.", "x = 2")
    shelf = Shelf(a=[code("one", "x = 1", execution_count=1)])
    house = open_house(tmp_path, model, shelf=shelf)
    await house.onyx.ready()
    house.onyx.prefill.composing(Draft(None, written))
    await looked(house)
    words, cell = model.ahead
    await house.run(await house.session(), QUESTION)
    assert begins_with(model.requests[0], words)
    assert not begins_with(model.requests[0], cell)


class SlowReadingModel(ReadingModel):
    """Reads until it has to give way."""

    async def prefill(self, request: ModelRequest) -> None:
        await super().prefill(request)
        await asyncio.Event().wait()


async def test_equivalent_draft_continues_prefill_and_other_one_ends_it(tmp_path: Path) -> None:
    model = SlowReadingModel()
    house = open_house(tmp_path, model)
    await house.onyx.ready()
    ahead = house.onyx.prefill
    for draft in ("", "What", "What does", "What does this notebook"):
        house.onyx.prefill.composing(Draft(None, draft))
        await until(lambda: ahead._draft_task is None or ahead._draft_task.done())
    await until(lambda: len(model.ahead) == 1)
    first = ahead._reading
    house.onyx.prefill.composing(Draft(None, "Remember that x is one"))
    await until(lambda: first is not None and first.cancelled())
    assert len(model.ahead) == 1


async def test_nothing_is_prefilled_during_a_run(tmp_path: Path) -> None:
    model = ReadingModel([hang := Hang()])
    house = open_house(tmp_path, model)
    run_id = await house.send(await house.session(), QUESTION)
    await until(hang.reached.is_set)
    house.onyx.prefill.composing(Draft(None, QUESTION))
    await looked(house)
    assert model.ahead == []
    await house.onyx.abort(run_id)
    await house.end(run_id)


@pytest.mark.parametrize(
    "draft",
    [
        Draft(None, "Remember that x is one"),
        Draft("01JGZZZZZZZZZZZZZZZZZZZZZZ", QUESTION),
        Draft(None, QUESTION, "local/other.gguf"),
    ],
    ids=["nothing to ask", "no such session", "no such model"],
)
async def test_nothing_is_prefilled_and_nothing_fails(tmp_path: Path, draft: Draft) -> None:
    model = ReadingModel("It sets x.")
    house = open_house(tmp_path, model)
    await house.onyx.ready()
    house.onyx.prefill.composing(draft)
    await looked(house)
    assert model.ahead == []
    assert (await house.run(await house.session(), QUESTION))[0] == "chat.final"


async def test_can_be_switched_off(tmp_path: Path) -> None:
    model = ReadingModel()
    house = open_house(tmp_path, model, config=json.dumps({"local": {"readAhead": False}}))
    await house.onyx.ready()
    house.onyx.prefill.composing(Draft(None, QUESTION))
    await looked(house)
    assert model.ahead == []


async def test_disallowed_model_is_not_prefilled(tmp_path: Path) -> None:
    model = ReadingModel()
    house = open_house(tmp_path, model, ceiling=Ceiling(providers=["openai"]))
    await house.onyx.ready()
    house.onyx.prefill.composing(Draft(None, QUESTION))
    await looked(house)
    assert model.ahead == []


async def test_remote_model_does_not_even_read_the_notebook(tmp_path: Path) -> None:
    model = ScriptedModel(["It sets x."], model_id="own/coder", light=True)
    config = {"providers": {"own": {"baseUrl": "http://127.0.0.1:9/v1", "toolMode": "cell"}}}
    shelf = notebook()
    house = open_house(tmp_path, model, config=json.dumps(config), shelf=shelf)
    await house.onyx.ready()
    house.onyx.prefill.composing(Draft(None, QUESTION))
    await looked(house)
    assert model.requests == []
    assert shelf.whole_reads == shelf.reads == 0
