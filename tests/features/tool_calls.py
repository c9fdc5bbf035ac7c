"""Calls of tools by name, with arguments that are checked as a run checks them."""

from typing import Any

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.messages import ToolCall, ToolResult
from onyx_jupyter.protocols import ToolPreview
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.registry import ToolRegistry
from onyx_jupyter.toolsets.tool import Tool


class ToolCalls:
    """Of these tools, or of all that Onyx has."""

    def __init__(self, *tools: Tool[Any]) -> None:
        self.registry = ToolRegistry(tools or all_tools())

    async def run(self, context: ToolContext, name: str, /, **arguments: Any) -> ToolResult:
        """Without a preview."""
        tool, checked = self.registry.validate(ToolCall("1", name, arguments))
        return await tool.call(checked, context)

    async def preview(self, context: ToolContext, name: str, /, **arguments: Any) -> ToolPreview:
        tool, checked = self.registry.validate(ToolCall("1", name, arguments))
        return await tool.preview(checked, context)
