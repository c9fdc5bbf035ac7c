"""Processors see a run go by, may change it, and may end it."""

from dataclasses import replace

import pytest

from onyx_jupyter.agent.processor import Halt, Processor
from onyx_jupyter.testing.script import Call
from tests.runs.house import House


class Shout:
    """Upper case, a word at a time: what is no whole word yet is held back."""

    def __init__(self) -> None:
        self.held = ""

    def feed(self, text):
        *words, self.held = (self.held + text).split(" ")
        return "".join(word.upper() + " " for word in words)

    def finish(self):
        return self.held.upper()


class Changer(Processor):
    async def before_model(self, request):
        return replace(request, system="changed")

    def text_filter(self):
        return Shout()

    async def after_tool(self, call, result):
        return replace(result, output=f"<{result.output}>")


class HaltAfterModel(Processor):
    async def after_model(self, reply):
        raise Halt("No further.")


class HaltAfterTool(Processor):
    async def after_tool(self, call, result):
        raise Halt("That was enough.")


async def test_processor_can_change_request_text_and_results(tmp_path):
    house = House(tmp_path, [[Call("peek", {"word": "a"})], "all is well"], processors=[Changer()])
    key = await house.session()
    assert (await house.run(key))[1]["text"] == "ALL IS WELL"
    assert [request.system for request in house.model.requests] == ["changed", "changed"]
    assert house.of("tool.finished")[0]["output"] == "<saw a>"
    assert [message.content for message in house.model.requests[1].messages if message.role == "tool"] == ["<saw a>"]
    assert "".join(data["text"] for data in house.of("chat.delta")) == "ALL IS WELL"
    assert house.lines(key)[-2]["content"] == "ALL IS WELL"


async def test_halt_after_model_ends_turn_with_its_text_and_runs_no_call(tmp_path):
    house = House(tmp_path, [["Now. ", Call("peek", {"word": "a"})]], processors=[HaltAfterModel()])
    key = await house.session()
    name, data = await house.run(key)
    assert (name, data["text"]) == ("chat.final", "No further.")
    assert house.peek.done == []
    assert house.ends_on_disk(key) == ["final"]
    assert house.results(key) == {}


async def test_halt_after_tool_keeps_its_result_and_pairs_remaining_calls(tmp_path):
    calls = [Call("peek", {"word": "a"}), Call("peek", {"word": "b"})]
    house = House(tmp_path, [calls], processors=[HaltAfterTool()])
    key = await house.session()
    assert (await house.run(key))[1]["text"] == "That was enough."
    assert house.peek.done == ["a"]
    first, second = house.results(key).values()
    assert first["content"] == "saw a"
    assert second["content"].startswith("Not done")


@pytest.mark.parametrize("processors", [[Changer, HaltAfterTool], [HaltAfterTool, Changer]])
async def test_halt_after_tool_applies_other_processors_to_its_result(tmp_path, processors):
    replies = [[Call("peek", {"word": "a"})]]
    house = House(tmp_path, replies, processors=[processor() for processor in processors])
    key = await house.session()
    assert (await house.run(key))[1]["text"] == "That was enough."
    assert [line["content"] for line in house.results(key).values()] == ["<saw a>"]


async def test_halt_text_is_separated_from_preceding_text(tmp_path):
    house = House(tmp_path, [["Now.", Call("peek", {"word": "a"})]], processors=[HaltAfterModel()])
    key = await house.session()
    await house.run(key)
    assert "".join(data["text"] for data in house.of("chat.delta")) == "Now.\n\nNo further."
    assert house.lines(key)[-2]["content"] == "Now.\n\nNo further."
