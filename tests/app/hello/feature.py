"""`hello`: a setting, a tool, an operation and a section of the prompt."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.config.schema import Section
from onyx_jupyter.config.sections import section
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.dependencies import Key, Parts
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import CONFIGURED
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import Wire
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import tool
from onyx_jupyter.toolsets.toolset import FixedToolset


class HelloSettings(Section):
    """`hello` in onyx.json."""

    greeting: str = Field(default="Hello", min_length=1, description="the word before the name")


class Greeter:
    """What the feature does, for whoever asks."""

    def __init__(self, configured: Configured) -> None:
        self._configured = configured

    def greet(self, name: str) -> str:
        return f"{section(self._configured.settings.config, 'hello', HelloSettings).greeting}, {name}!"


GREETER: Key[Greeter] = Key("greeter")


class HelloArguments(Arguments):
    name: str


@tool(name="hello", arguments=HelloArguments, description="Greets somebody.", risk="read")
async def hello_tool(arguments: HelloArguments, context: ToolContext) -> ToolResult:
    return ToolResult(f"Said hello to {arguments.name}.", origin="own")


class GreetParams(Wire):
    name: str


class Greeting(Wire):
    text: str


async def greet(params: GreetParams, caller: Caller) -> dict[str, Any]:
    return {"text": caller.get(GREETER).greet(params.name)}


def prompt(parts: Parts) -> str:
    return f"# Greeting\nOf somebody new, say first: {parts.get(GREETER).greet('NAME')}"


def make(parts: Parts) -> Built:
    return Built({GREETER: Greeter(parts.get(CONFIGURED))})


FEATURE = Feature(
    "hello",
    make,
    requires=(CONFIGURED,),
    provides=(GREETER,),
    settings=HelloSettings,
    operations=(Operation("hello.greet", GreetParams, Greeting, greet, "read"),),
    toolsets=(FixedToolset("hello", (hello_tool,)),),
    prompt=prompt,
)
