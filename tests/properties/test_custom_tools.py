import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.messages import ToolCall, ToolResult
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.registry import ToolRegistry
from onyx_jupyter.toolsets.tool import Tool, tool

BUILTIN = {definition.name for definition in ToolRegistry(all_tools()).definitions()}
TOOL_NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,30}", fullmatch=True).filter(lambda name: name not in BUILTIN)


class EchoArguments(Arguments):
    some_text: str
    how_often: int = 1


def custom_tool(tool_name: str) -> Tool[Any]:
    """A tool as a plugin's author would write one; its output says which one has run."""

    @tool(name=tool_name, arguments=EchoArguments, description="Says it again.", risk="read")
    async def echo(arguments: EchoArguments, context: Any) -> ToolResult:
        return ToolResult(f"{tool_name}: {arguments.some_text * arguments.how_often}")

    return echo


@given(names=st.lists(TOOL_NAMES, min_size=1, max_size=5, unique=True), text=st.text(max_size=20), data=st.data())
def test_calling_registered_tool_by_name_runs_it(names: list[str], text: str, data: st.DataObject) -> None:
    """Property 18: Tool registration extensibility."""
    registry = ToolRegistry([*all_tools(), *map(custom_tool, names)])
    wanted = data.draw(st.sampled_from(names))
    called, arguments = registry.validate(ToolCall("1", wanted, {"someText": text, "howOften": 2}))
    result = asyncio.run(called.call(arguments, None))  # type: ignore[arg-type]
    assert result.output == f"{wanted}: {text * 2}"
    assert {definition.name for definition in registry.definitions()} == BUILTIN | set(names)
