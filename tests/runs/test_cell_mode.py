"""Cell mode in a run: what its person sees of a cell before it is there."""

import json

from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.script import Call, Hang, Hold, Say, Think
from onyx_jupyter.testing.scripted_server import ScriptedServer
from tests.runs.house import House
from tests.security.secret_samples import MIXED
from tests.waiting import until

CELLS = json.dumps({"providers": {"scripted": {"toolMode": "cell"}}})
KEY = f"sk-proj-{MIXED}"


def draft(house: House) -> str:
    """The cell as it stands in the card."""
    shown = ""
    for data in house.of("tool.draft"):
        shown = data["text"] if data.get("begins") else shown + data["text"]
    return shown


async def test_draft_cell_is_visible_and_discarded_one_is_replaced(tmp_path):
    held = Hold()
    replies = [Say("print(df[", chunk_chars=2), [Say("print(", chunk_chars=2), held, "1)\n"]]
    house = House(tmp_path, [[replies[0]], replies[1]], config=CELLS)
    key = await house.session()
    run_id = await house.send(key, "compute the mean of the fees", mode="ask")
    # The first one passes through the same letters.
    await until(lambda: sum(bool(data.get("begins")) for data in house.of("tool.draft")) == 2)
    await until(lambda: draft(house) == "print(")
    assert "chat.delta" not in house.names()
    held.released.set()
    name, data = await house.end(run_id)
    assert name == "chat.final"
    assert "print(1)" in data["text"]
    assert set(house.of("tool.draft")[-1]) == {"runId", "seq", "text"}


async def test_thought_ends_when_cell_becomes_visible(tmp_path):
    clock, thinking, writing = FakeClock(), Hold(), Hold()
    house = House(tmp_path, [[Think("The mean."), thinking, "print(1", writing, ")"]], config=CELLS, clock=clock)
    key = await house.session()
    run_id = await house.send(key, "compute the mean of the fees", mode="ask")
    await until(lambda: house.of("chat.thought"))
    clock.advance(8.0)
    thinking.released.set()
    await until(lambda: draft(house) == "print(1")
    assert [data.get("seconds") for data in house.of("chat.thought")][-1] == 8.0
    clock.advance(20.0)
    writing.released.set()
    await house.end(run_id)
    assert len([data for data in house.of("chat.thought") if data.get("seconds") is not None]) == 1


async def test_draft_contains_no_secret_however_chunked(tmp_path):
    house = House(tmp_path, [[Say(f"key = '{KEY}'\nprint(key)", chunk_chars=1)]], config=CELLS)
    key = await house.session()
    await house.run(key, "compute the mean of the fees", mode="ask")
    assert draft(house).startswith("key = '[redacted:openai-key]'\n")
    assert MIXED[:8] not in json.dumps(house.events)


async def test_stop_ends_draft(tmp_path):
    hang = Hang()
    house = House(tmp_path, [["print(1", hang]], config=CELLS)
    key = await house.session()
    run_id = await house.send(key, "compute the mean of the fees", mode="ask")
    await until(lambda: draft(house) == "print(1")
    await house.onyx.abort(run_id)
    assert (await house.end(run_id))[0] == "chat.aborted"
    assert "print(1" not in house.file(key).read_text()


async def test_user_can_choose_cell_mode(tmp_path):
    house = House(tmp_path, ["print(1)", "It is 1.", "It is 2."], config=json.dumps({}))
    key = await house.session()
    end = await house.run(key, "compute the mean of the fees", mode="ask", tool_mode="cell")
    assert "```python\nprint(1)" in end[1]["text"]
    assert house.of("session.updated")[-1]["toolMode"] == "cell"
    assert (await house.run(key, "compute the mean of the fees", mode="ask"))[1]["text"] == "It is 1."
    assert house.of("session.updated")[-1].get("toolMode") is None
    assert [model.tool_mode for model in await house.onyx.list_models(refresh=False)] == ["tools"]


async def test_user_can_choose_tools_for_cell_mode_model(tmp_path):
    house = House(tmp_path, [[Call("peek", {"word": "it"})], "Seen."], config=CELLS)
    key = await house.session()
    assert [model.tool_mode for model in await house.onyx.list_models(refresh=False)] == ["cell"]
    assert (await house.run(key, "compute the mean of the fees", tool_mode="tools"))[1]["text"] == "Seen."
    assert house.peek.done == ["it"]


async def test_text_of_restarting_server_is_dropped_but_cell_is_kept(tmp_path):
    def reply(request):
        written = request.last_user_text.startswith("Write the cell")
        return "```python\nprint(1)\n```" if written else "You plot the mean of the fees."

    with ScriptedServer(reply) as server:
        models = ProviderModels(ModelsSettings({"scripted": ProviderSettings(base_url=server.base_url)}))
        house = House(tmp_path, models={"scripted/model": models.open("scripted/model")}, config=CELLS)
        key = await house.session()
        name, data = await house.run(key, "compute the mean of the fees", mode="ask")
        await house.close()
        await models.close()
    assert name == "chat.final"
    assert "```python\nprint(1)\n```" in data["text"]
    assert draft(house) == "print(1)"
    assert "You plot" not in json.dumps(house.events) + house.file(key).read_text()
    assert len(server.completions) == 4
