"""The web: search, pages, addresses."""

from __future__ import annotations

from onyx_jupyter.operations.feature import Feature
from onyx_jupyter.tools.builtin.web import (
    http_fetch_tool,
    web_fetch_tool,
    web_search_tool,
)
from onyx_jupyter.toolsets.toolset import FixedToolset

FEATURE = Feature(
    "web",
    toolsets=(
        FixedToolset(
            "web",
            (
                web_search_tool,
                web_fetch_tool,
                http_fetch_tool,
            ),
        ),
    ),
)
