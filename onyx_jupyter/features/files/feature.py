"""Files and folders as the agent reads and changes them."""

from __future__ import annotations

from onyx_jupyter.operations.feature import Feature
from onyx_jupyter.tools.builtin.file_changes import (
    edit_tool,
    write_tool,
)
from onyx_jupyter.tools.builtin.files import (
    list_tool,
    read_tool,
)
from onyx_jupyter.tools.builtin.search import (
    search_tool,
)
from onyx_jupyter.toolsets.toolset import FixedToolset

FEATURE = Feature(
    "files",
    toolsets=(
        FixedToolset(
            "fs",
            (
                read_tool,
                write_tool,
                edit_tool,
                list_tool,
                search_tool,
            ),
        ),
    ),
)
