"""Commands, and the processes that go on."""

from __future__ import annotations

from onyx_jupyter.operations.feature import Feature
from onyx_jupyter.tools.builtin.exec import (
    make_exec_tool,
)
from onyx_jupyter.tools.builtin.process import (
    process_tool,
)
from onyx_jupyter.toolsets.toolset import FixedToolset

FEATURE = Feature(
    "processes",
    toolsets=(
        FixedToolset(
            "process",
            (
                make_exec_tool(),
                process_tool,
            ),
        ),
    ),
)
