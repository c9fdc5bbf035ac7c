"""The toolsets that come with Onyx: one a family."""

from __future__ import annotations

from itertools import groupby

from onyx_jupyter.tools.builtin import all_tools
from onyx_jupyter.toolsets.toolset import FixedToolset


def builtin_toolsets() -> list[FixedToolset]:
    """In the order in which a model is told of them."""
    return [FixedToolset(family, list(tools)) for family, tools in groupby(all_tools(), lambda tool: tool.family)]
