"""Toolset wrappers change names and descriptions, not what tools do."""

from dataclasses import replace
from pathlib import Path

import pytest

from onyx_jupyter.app.features import TOOLSETS, all_tools
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.toolsets.arguments import ByJsonSchema
from onyx_jupyter.toolsets.run_tools import gather_tools
from onyx_jupyter.toolsets.tool import PerCall, Tool, whole_call
from onyx_jupyter.toolsets.toolset import FixedToolset, ToolsetContext
from onyx_jupyter.toolsets.wrappers import Deferred, Filtered, MinimumRisk, Prefixed, SortedTools, WithFamily

ANYBODY = ToolsetContext("main", Path())


async def _call(arguments, context):
    return ToolResult("done")


async def _preview(arguments, context):
    return replace(whole_call("look", arguments), grant="everything")


LOOK = Tool(
    name="look",
    description="Looks.",
    risk="read",
    arguments=ByJsonSchema({"type": "object"}),
    call=_call,
    per_call=PerCall(preview=_preview),
)
TOUCH = replace(LOOK, name="touch", risk="write", per_call=PerCall())
HANDS = FixedToolset("hands", [TOUCH, LOOK])


async def named(toolset):
    return [tool.name for tool in await toolset.tools(ANYBODY)]


async def test_filtering_renaming_and_reordering():
    assert await named(Filtered(HANDS, lambda tool: tool.risk == "read")) == ["look"]
    assert await named(Prefixed(HANDS, "my_")) == ["my_touch", "my_look"]
    assert await named(SortedTools(HANDS)) == ["look", "touch"]
    assert [tool.deferred for tool in await Deferred(HANDS).tools(ANYBODY)] == [True, True]


async def test_grant_under_one_name_does_not_apply_to_another():
    grants = set()
    for prefix in ("a_", "b_"):
        toolset = Prefixed(HANDS, prefix)
        _, look = await toolset.tools(ANYBODY)
        shown = await look.preview(look.check({}), None)
        grants.add(shown.grant)
        assert (await toolset.call(look, look.check({}), None)).output == "done"
    assert len(grants) == 2


async def test_tool_needing_approval_never_claims_read_only():
    for tool in await MinimumRisk(HANDS).tools(ANYBODY):
        nothing = tool.check({})
        assert "read" not in (tool.risk, tool.risk_of(nothing), await tool.risk_here(nothing, None))
    touch, look = await MinimumRisk(HANDS, "network").tools(ANYBODY)
    assert (touch.risk, look.risk) == ("write", "network"), "a greater risk stays what it is"


async def test_built_in_families_are_closed():
    ours = FixedToolset("hands", [replace(LOOK, family="fs"), replace(TOUCH, family="paws"), replace(TOUCH, name="x")])
    assert [tool.family for tool in await WithFamily(ours, "hands").tools(ANYBODY)] == ["hands", "paws", "hands"]


async def test_each_built_in_family_is_a_toolset_and_all_are_covered():
    toolsets = TOOLSETS
    assert len({toolset.name for toolset in toolsets}) == len(toolsets) > 5
    gathered = await gather_tools(toolsets, ANYBODY)
    assert [tool.name for tool in gathered.tools] == [tool.name for tool in all_tools()]
    assert gathered.problems == ()


class Broken(FixedToolset):
    async def tools(self, context):
        raise ZeroDivisionError("no tools today")


class Slow(FixedToolset):
    async def tools(self, context):
        import asyncio

        await asyncio.Event().wait()


async def test_failing_toolset_is_named_and_others_keep_their_tools():
    bad = [Broken("broken", ()), Slow("slow", ()), FixedToolset("odd", ["no tool"])]
    gathered = await gather_tools([*bad, HANDS], ANYBODY, timeout_s=0.05)
    assert [tool.name for tool in gathered.tools] == ["touch", "look"]
    broken, slow, odd = gathered.problems
    assert "broken cannot be used: ZeroDivisionError: no tools today" in broken
    assert "slow cannot be used: it took longer than 0.05 s" in slow
    assert "odd cannot be used: TypeError: str is no tool" in odd


@pytest.mark.parametrize("name", ["touch", "more_tools"])
async def test_duplicate_name_is_left_out_and_reported(name):
    other = FixedToolset("paws", [replace(LOOK, name=name), replace(LOOK, name="sniff")])
    gathered = await gather_tools([HANDS, other], ANYBODY)
    assert [tool.name for tool in gathered.tools] == ["touch", "look", "sniff"]
    assert gathered.tools[0] is TOUCH
    (problem,) = gathered.problems
    assert f"{name!r} of the toolset paws is left out" in problem


@pytest.mark.parametrize("name", ["", "two words", "ä", "x" * 65, "a.b"])
def test_invalid_name_is_rejected(name):
    with pytest.raises(ValueError, match="letters, digits"):
        replace(LOOK, name=name)
