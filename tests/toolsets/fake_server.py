"""A toolset as an external server would provide it: names, plain JSON schemas and a call function, without a class."""

import asyncio
from collections.abc import Sequence
from typing import Any

from onyx_jupyter.errors import ToolError
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.toolsets.arguments import ByJsonSchema, Checked
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import Tool
from onyx_jupyter.toolsets.toolset import ToolsetContext

SCHEMAS: dict[str, dict[str, Any]] = {
    "lookup_ticket": {
        "type": "object",
        "properties": {
            "ticket_id": {"type": "string", "description": "Like ABC-1."},
            "depth": {"type": "integer", "minimum": 0, "default": 1},
        },
        "required": ["ticket_id"],
    },
    "close_ticket": {"type": "object", "properties": {"ticket_id": {"type": "string"}}, "required": ["ticket_id"]},
    "wait_for_ticket": {"type": "object"},
}


class FakeServer:
    """`called` lists what reached it; `stopped` counts the calls that were cancelled."""

    name = "tickets"

    def __init__(self) -> None:
        self.called: list[tuple[str, dict[str, Any]]] = []
        self.asked_for: list[str] = []
        self.waiting = asyncio.Event()
        self.stopped = 0

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        self.asked_for.append(context.agent_id)
        return [
            Tool(
                name=name,
                description=f"{name.replace('_', ' ').capitalize()}.",
                risk="network",
                arguments=ByJsonSchema(schema),
                call=self._nobody,
                family="tickets",
            )
            for name, schema in SCHEMAS.items()
        ]

    async def call(self, tool: Tool[Any], arguments: Checked, context: ToolContext) -> ToolResult:
        given = arguments.shown()
        self.called.append((tool.name, given))
        if tool.name == "close_ticket":
            raise ToolError(f"{given['ticket_id']} is closed already.")
        if tool.name == "wait_for_ticket":
            self.waiting.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.stopped += 1
                raise
        return ToolResult(f"{given['ticket_id']}: the printer is on fire")

    async def _nobody(self, arguments: Checked, context: ToolContext) -> ToolResult:
        raise AssertionError("the toolset runs its tools, not they themselves")
