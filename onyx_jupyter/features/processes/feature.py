"""Shell commands and background processes."""

from __future__ import annotations

from onyx_jupyter.features.processes.exec_tool import make_exec_tool
from onyx_jupyter.features.processes.process_tool import process_tool
from onyx_jupyter.operations.feature import Feature
from onyx_jupyter.toolsets.toolset import FixedToolset

FEATURE = Feature(
    "processes",
    toolsets=(FixedToolset("process", (make_exec_tool(), process_tool)),),
)
