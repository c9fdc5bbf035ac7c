"""The skills available to one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.agent.prompt_sections import SkillLine
from onyx_jupyter.toolsets.tool import Tool
from onyx_jupyter.toolsets.toolset import FixedToolset, Toolset


@dataclass(frozen=True)
class OfferedSkills:
    """Their tools, and their lines in the prompt."""

    tools: Sequence[Tool[Any]] = ()
    lines: Sequence[SkillLine] = ()

    @property
    def toolset(self) -> Toolset:
        """The tools, for one run: each keeps what a person was shown of its skill."""
        return FixedToolset("skills", self.tools)
