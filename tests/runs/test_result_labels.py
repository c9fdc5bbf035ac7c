"""What a call says to the screens is told to the watchers and kept with its result, bounded and without secrets."""

import json

from onyx_jupyter.activities import Activity
from onyx_jupyter.messages import Failure, Label, Link, ToolResult
from onyx_jupyter.result_data import MAX_CHARS
from onyx_jupyter.testing.script import Call
from tests.runs.house import House

SECRET = "sk-" + "proj-" + "Zx81Qm4vTn7RbK2LpW9c" * 2
PEEK = Activity("search_files", "word", "code")


def says(house, result):
    """Lets `peek` give that result."""

    async def run(arguments, context):
        return result

    house.peek.call = run
    house.peek.activity = PEEK


async def test_label_before_and_after_call_is_sent_and_stored_but_not_shown_to_model(tmp_path):
    house = House(tmp_path, [[Call("peek", {"word": "x"})], "Seen"])
    data = {"notebook": "a.ipynb", "cells": [{"number": 1, "id": "c1"}]}
    label = Label("read_notebook", "a.ipynb", "path", links=(Link("cell", "a.ipynb", "c1"),))
    says(house, ToolResult("found x", data=data, label=label))
    key = await house.session()
    await house.run(key)
    started = {"action": "search_files", "object": "x", "objectKind": "code", "links": []}
    assert house.of("tool.started")[0]["activity"] == started
    told = {
        "action": "read_notebook",
        "object": "a.ipynb",
        "objectKind": "path",
        "links": [{"kind": "cell", "path": "a.ipynb", "cellId": "c1"}],
    }
    (finished,) = house.of("tool.finished")
    assert (finished["label"], finished["data"]) == (told, data)
    assert "failure" not in finished
    (line,) = house.results(key).values()
    assert (line["meta"]["label"], line["meta"]["data"]) == (told, data)
    assert "a.ipynb" not in json.dumps([message.content for message in house.model.requests[1].messages])


async def test_result_without_label_keeps_the_calls(tmp_path):
    house = House(tmp_path, [[Call("peek", {"word": "x"}), Call("touch", {"word": "y"})], "Seen"])
    says(house, ToolResult("found x"))
    key = await house.session()
    run_id = await house.send(key)
    await house.asked()
    await house.deny("Not here")
    await house.end(run_id)
    peeked, touched = house.of("tool.finished")
    assert peeked["label"] == house.of("tool.started")[0]["activity"]
    assert "label" not in touched  # a tool without an activity is known by its name
    assert touched["failure"]["kind"] == "denied"
    assert "Not here" in touched["failure"]["reason"]


async def test_approval_has_label_of_what_would_happen(tmp_path):
    house = House(tmp_path, [[Call("touch", {"word": "y"})], "Done"])
    house.touch.activity = Activity("write_file", "word", "path")
    key = await house.session()
    run_id = await house.send(key)
    await house.asked()
    assert house.of("exec.approval_request")[0]["activity"]["action"] == "write_file"
    (asked,) = [line["meta"] for line in house.lines(key) if line.get("meta", {}).get("kind") == "approval_request"]
    assert asked["activity"]["object"] == "y"
    await house.approve()
    await house.end(run_id)


async def test_failure_has_a_kind(tmp_path):
    calls = [Call("peek", {"word": 5}), Call("nothing", {}), Call("break", {"word": "x"}), Call("peek", {"word": "x"})]
    house = House(tmp_path, [calls, "I see"])
    says(house, ToolResult("\nno such word\nexit code 1", ok=False))
    key = await house.session()
    await house.run(key)
    failures = [event["failure"] for event in house.of("tool.finished")]
    assert [failure["kind"] for failure in failures] == ["invalid", "unavailable", "unavailable", "failed"]
    assert failures[0]["reason"].startswith("`word`")
    assert failures[3]["reason"] == "no such word"
    assert [line["meta"]["failure"] for line in house.results(key).values()] == failures


async def test_labels_and_data_contain_no_secret(tmp_path):
    house = House(tmp_path, [[Call("peek", {"word": "x"})], "Seen"])
    label = Label("search_files", f"key {SECRET}", links=(Link("file", f"{SECRET}.txt"),))
    result = ToolResult("x", ok=False, data={"found": [SECRET]}, label=label, failure=Failure("failed", SECRET))
    says(house, result)
    key = await house.session()
    await house.run(key)
    (finished,) = house.of("tool.finished")
    assert finished["data"] == {"found": ["[redacted:openai-key]"]}
    assert finished["failure"]["reason"] == "[redacted:openai-key]"
    assert finished["label"]["object"] == "key [redacted:openai-key]"
    assert SECRET not in json.dumps([data for _, data in house.events]) + json.dumps(house.lines(key))


async def test_oversized_data_is_left_out(tmp_path):
    house = House(tmp_path, [[Call("peek", {"word": "x"})], "Seen"])
    says(house, ToolResult("x", data={"found": ["y" * MAX_CHARS]}))
    key = await house.session()
    await house.run(key)
    assert "data" not in house.of("tool.finished")[0]
    assert len(json.dumps(house.lines(key))) < MAX_CHARS
