"""The web: search, pages and HTTP requests."""

from __future__ import annotations

from onyx_jupyter.features.web.toolset import TOOLSET
from onyx_jupyter.operations.feature import Feature

FEATURE = Feature("web", toolsets=(TOOLSET,))
