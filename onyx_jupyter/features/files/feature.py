"""Reading and changing files and folders."""

from __future__ import annotations

from onyx_jupyter.features.files.edit_tools import edit_tool, write_tool
from onyx_jupyter.features.files.read_tools import list_tool, read_tool
from onyx_jupyter.features.files.search_tool import search_tool
from onyx_jupyter.operations.feature import Feature
from onyx_jupyter.toolsets.toolset import FixedToolset

FEATURE = Feature(
    "files",
    toolsets=(FixedToolset("fs", (read_tool, write_tool, edit_tool, list_tool, search_tool)),),
)
