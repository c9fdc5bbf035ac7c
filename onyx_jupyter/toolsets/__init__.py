"""The API for users' own tools and for adding tools to an agent. See docs/tools-of-your-own.md."""

from onyx_jupyter.errors import ToolError
from onyx_jupyter.messages import Attachment, Risk, ToolResult
from onyx_jupyter.protocols import ExactScope, ToolPreview
from onyx_jupyter.toolsets.arguments import Arguments, ByJsonSchema, ByModel
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import PerCall, Tool, tool
from onyx_jupyter.toolsets.toolset import FixedToolset, Toolset, ToolsetContext
from onyx_jupyter.toolsets.wrappers import Deferred, Filtered, MinimumRisk, Prefixed, SortedTools

__all__ = [
    "Arguments",
    "Attachment",
    "ByJsonSchema",
    "ByModel",
    "Deferred",
    "ExactScope",
    "Filtered",
    "FixedToolset",
    "MinimumRisk",
    "PerCall",
    "Prefixed",
    "Risk",
    "SortedTools",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolPreview",
    "ToolResult",
    "Toolset",
    "ToolsetContext",
    "tool",
]
