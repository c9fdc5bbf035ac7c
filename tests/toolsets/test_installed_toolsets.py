"""Tools of installed packages by entry point: found without import, loaded on demand, independently."""

import sys
from pathlib import Path

import pytest

from onyx_jupyter.testing.script import Call
from onyx_jupyter.toolsets.installed_toolsets import installed_toolsets, tools_at_start
from onyx_jupyter.toolsets.toolset import ToolsetContext
from tests.runs.house import House

GOOD = """
from onyx_jupyter.toolsets import Arguments, ToolResult, tool

class Nothing(Arguments):
    pass

@tool(name="wave", arguments=Nothing, description="Waves.", risk="read", family="fs")
async def wave(arguments, context):
    return ToolResult("waved", origin="own")

@tool(name="bow", arguments=Nothing, description="Bows.", risk="write")
async def bow(arguments, context):
    return ToolResult("bowed", origin="own")

both = [wave, bow]
def made():
    return both
"""
ANYBODY = ToolsetContext("main", Path())


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Puts a package of one module into the environment, with that entry point."""
    monkeypatch.syspath_prepend(str(tmp_path / "site"))

    def put(name: str, source: str, attribute: str) -> None:
        info = tmp_path / "site" / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[onyx_jupyter.toolsets]\n{name} = {name}:{attribute}\n")
        (tmp_path / "site" / f"{name}.py").write_text(source)

    yield put
    for name in ("greetings", "wreck", "quitter", "empty"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("attribute", "names"), [("wave", ["wave"]), ("both", ["bow", "wave"]), ("made", ["bow", "wave"])]
)
async def test_entry_point_may_be_tool_list_or_factory(install, attribute, names):
    install("greetings", GOOD, attribute)
    (toolset,) = installed_toolsets()
    assert "greetings" not in sys.modules, "nothing is imported before it is needed"
    tools = await toolset.tools(ANYBODY)
    assert [tool.name for tool in tools] == names
    assert {tool.family for tool in tools} == {"greetings"}, "one of Onyx's own families is not joined"
    assert toolset.name == "greetings of the package greetings"


async def test_tool_runs_with_approval(install, tmp_path):
    install("greetings", GOOD, "both")
    house = House(tmp_path, [[Call("wave"), Call("bow")], "Done"], toolsets=installed_toolsets())
    key = await house.session()
    run_id = await house.send(key)
    await house.approve()
    await house.end(run_id)
    assert [result["content"] for result in house.results(key).values()] == ["waved", "bowed"]
    assert [asked["toolName"] for asked in house.of("exec.approval_request")] == ["bow"]
    assert "tools" not in await house.onyx.container.health()


async def test_failing_entry_points_are_named_and_others_work(install, tmp_path):
    install("greetings", GOOD, "wave")
    install("wreck", "import nowhere_to_be_found", "tools")
    install("quitter", "raise SystemExit(1)", "tools")
    install("empty", "tools = []", "tools")
    house = House(tmp_path, [[Call("wave"), Call("peek")], "Done"], toolsets=installed_toolsets())
    key = await house.session()
    await house.run(key)
    assert [result["content"] for result in house.results(key).values()] == ["waved", "saw x"]
    told = (await house.onyx.container.health())["tools"]
    assert not told["ok"]
    assert "wreck of the package wreck cannot be used: ModuleNotFoundError: No module named" in told["message"]
    assert "quitter of the package quitter cannot be used: ImportError: it ends the program" in told["message"]
    assert "empty of the package empty cannot be used: TypeError: list is no tool" in told["message"]
    assert "greetings" not in told["message"]


async def test_its_name_is_valid_in_configuration(install, tmp_path):
    install("greetings", GOOD, "both")
    deny = '{agents: {list: [{id: "main", default: true, tools: {deny: ["group:greetings", "bwo"]}}]}}'
    house = House(tmp_path, ["Hello"], toolsets=installed_toolsets(), config=deny)
    key = await house.session()
    await house.run(key)
    assert not {tool.name for tool in house.model.requests[0].tools} & {"wave", "bow"}
    told = (await house.onyx.container.health())["config"]["message"]
    assert "'bwo'" in told
    assert "Did you mean bow?" in told
    assert "'group:greetings'" not in told


def test_administrator_can_name_them_before_the_event_loop(install, tmp_path):
    install("greetings", GOOD, "both")
    install("wreck", "import nowhere_to_be_found", "tools")
    assert [tool.name for tool in tools_at_start(installed_toolsets(), tmp_path)] == ["bow", "wave"]
