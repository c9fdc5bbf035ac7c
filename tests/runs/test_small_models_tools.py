"""What a small model that calls tools is given: a short beginning that stays the same, and more where it is needed."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.json_actions import json_action_call
from onyx_jupyter.security.external_content import unfenced
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.script import Call, Fail
from onyx_jupyter.testing.scripted_model import ScriptedModel
from onyx_jupyter.text_tokens import text_tokens
from onyx_jupyter.toolsets.more_tools import MORE_TOOLS
from tests.runs.house import House

TEMPLATES = Path(__file__).parents[2] / "workspace"
REVIEWED = Path(__file__).with_name("small_prompt.reviewed.md")
MAX_TOKENS = 700
COLUMNS = ("net", "gross", "tax", "fee", "refund")
FIRST = {
    "notebook_outline",
    "notebook_read",
    "notebook_insert_cell",
    "notebook_edit_cell",
    "notebook_run_cell",
    MORE_TOOLS,
}


def house_of(
    folder: Path, replies: Any, auto: Sequence[str] = (), clock: FakeClock | None = None
) -> tuple[House, ScriptedModel]:
    """With every built-in tool and no other, and the files that a workspace begins with."""
    copytree(TEMPLATES, folder / "templates")
    small = ScriptedModel(replies, light=True)
    main = {"id": "main", "tools": {"deny": ["peek", "touch", "break", "linger"]}}
    config = json.dumps({"agents": {"list": [main]}, "security": {"auto": auto}})
    return House(folder, models={"scripted/model": small}, more_tools=all_tools(), config=config, clock=clock), small


def beginning(request: ModelRequest) -> str:
    """The system prompt and the tools, as a model of this machine gets them."""
    return str(json_action_call(request).messages[0]["content"])


def told(request: ModelRequest) -> set[str]:
    """The tools that stand in the beginning."""
    return {line[2:].split("(")[0] for line in beginning(request).splitlines() if line.startswith("- ") and "(" in line}


async def test_prompt_and_tools_of_new_workspace_stay_within_budget(tmp_path: Path) -> None:
    """Read the difference to the reviewed text before you copy the new one over it."""
    house, small = house_of(tmp_path, ["Hello."], clock=FakeClock())
    await house.run(await house.session(), "hello")
    new = beginning(small.requests[0]) + "\n"
    if new != REVIEWED.read_text("utf-8"):
        REVIEWED.with_suffix(".new").write_text(new, "utf-8")
    assert new == REVIEWED.read_text("utf-8")
    assert text_tokens(beginning(small.requests[0])) <= MAX_TOKENS
    assert told(small.requests[0]) == FIRST
    await house.close()


async def test_prompt_and_tools_stay_within_budget_with_many_notes(tmp_path: Path) -> None:
    calls = [Call("remember", {"fact": f"The column {name} holds money in euros"}) for name in COLUMNS]
    house, small = house_of(tmp_path, [calls, "Noted.", "Hello."], auto=["remember"])
    key = await house.session()
    workspace = house.onyx.agent("main").workspace
    for name in ("SOUL.md", "USER.md", "MEMORY.md"):
        (workspace / name).write_text("Ada prefers polars over pandas, and her year starts in April. " * 40)
    await house.run(key, "Here are my columns", mode="auto")
    await house.run(key, "hello")
    request = small.requests[-1]
    assert request.system.count("Ada prefers polars") == 6
    assert request.system.count("money in euros") == 2
    assert text_tokens(beginning(request)) <= MAX_TOKENS
    await house.close()


async def test_tool_family_is_described_after_requesting_message_and_callable_immediately(
    tmp_path: Path,
) -> None:
    house, small = house_of(tmp_path, [[Call("list", {"path": ""})], "There is one."])
    (house.root / "plan.txt").write_text("x")
    key = await house.session()
    await house.run(key, "Which files are here?")
    (result,) = house.results(key).values()
    assert "plan.txt" in unfenced(result["content"])
    request = small.requests[0]
    content = request.messages[0].content
    assert content.startswith("Which files are here?\n\n[Onyx] For this you also have:\n- read(path, ")
    assert "- list(path?): Lists a folder: subfolders first, then files with their sizes." in content
    actions = json_action_call(request).response_format["json_schema"]["schema"]["anyOf"]
    assert {"read", "write", "edit", "list", "search"} < {one["properties"]["name"]["const"] for one in actions}
    assert told(request) == FIRST
    assert house.lines(key)[1]["content"] == "Which files are here?"
    await house.close()


async def test_earlier_text_stays_verbatim_whatever_is_asked_next(tmp_path: Path) -> None:
    house, small = house_of(tmp_path, ["Two.", [Call("list", {"path": ""})], "None.", "Fine.", "Bye."])
    key = await house.session()
    for message in ("How many variables are there?", "Which files are here?", "Look it up on the web", "bye"):
        await house.run(key, message)
    sent = [json_action_call(request).messages for request in small.requests]
    for earlier, later in pairwise(sent):
        assert later[: len(earlier)] == earlier
    await house.close()


@pytest.mark.parametrize(
    ("message", "tool"),
    [
        ("Show me the variables", "kernel_inspect"),
        ("pip install polars", "exec"),
        ("What do you know about me?", "memory_search"),
        ("Search the web for polars", "web_search"),
        ("What do my documents say?", "knowledge_search"),
        ("What did we do last time?", "sessions_search"),
        ("Make a new notebook", "notebook_create"),
        ("Read notes.md", "read"),
        ("Plot the mean of sales.csv by month", None),
        ("Remove outliers and list the columns", None),
    ],
)
async def test_wording_of_request_selects_family(tmp_path: Path, message: str, tool: str | None) -> None:
    house, small = house_of(tmp_path, ["Well."])
    await house.run(await house.session(), message)
    further = {one.name for one in small.requests[0].tools if one.apart}
    assert (tool in further) if tool else not further
    await house.close()


async def test_more_tools_lists_a_family_and_runs_one_of_its_tools(tmp_path: Path) -> None:
    run = Call(MORE_TOOLS, {"tool": "list", "arguments": {"path": ""}})
    house, small = house_of(tmp_path, [[Call(MORE_TOOLS, {"tool": "fs"})], [run], "One."])
    (house.root / "plan.txt").write_text("x")
    key = await house.session()
    await house.run(key, "Was ist hier?")
    shown, listed = (unfenced(result["content"]) for result in house.results(key).values())
    assert [line.split("(")[0] for line in shown.splitlines()] == ["- read", "- write", "- edit", "- list", "- search"]
    assert "plan.txt" in listed
    assert all(told(request) == FIRST for request in small.requests)
    await house.close()


async def test_ask_mode_leaves_reading_tools_to_small_model(tmp_path: Path) -> None:
    house, small = house_of(tmp_path, ["Well."])
    await house.run(await house.session(), "Which files are here?", mode="ask")
    assert told(small.requests[0]) == {"notebook_outline", "notebook_read", MORE_TOOLS}
    assert {one.name for one in small.requests[0].tools if one.apart} == {"read", "list", "search"}
    await house.close()


async def test_small_fallback_of_large_model_gets_few_tools(tmp_path: Path) -> None:
    copytree(TEMPLATES, tmp_path / "templates")
    large = ScriptedModel(lambda request: [Fail("unavailable")])
    small = ScriptedModel(["Hello."], model_id="local/small", light=True)
    config = json.dumps({"agents": {"list": [{"id": "main", "fallbackModel": "local/small"}]}})
    models = {"scripted/model": large, "local/small": small}
    house = House(tmp_path, models=models, more_tools=all_tools(), config=config)
    await house.run(await house.session(), "hello")
    assert len(large.requests[0].tools) > len(FIRST)
    assert told(small.requests[0]) == FIRST


async def test_tiny_model_is_guided_with_all_tools(tmp_path: Path) -> None:
    house = House(
        tmp_path,
        more_tools=all_tools(),
        models={"scripted/model": (tiny := ScriptedModel(["ok"], light=True, tiny=True))},
    )
    await house.run(await house.session(), "Which files are here?")
    assert {"memory_write", "read"} < {tool.name for tool in tiny.requests[0].tools}
    assert tiny.requests[0].messages[0].content == "Which files are here?"
