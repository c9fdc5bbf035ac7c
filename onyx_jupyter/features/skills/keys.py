"""Service keys for this feature and the surfaces. Keys that other features use are in `operations.keys`."""

from __future__ import annotations

from onyx_jupyter.features.skills.skill_service import Skills
from onyx_jupyter.operations.dependencies import Key

SKILLS: Key[Skills] = Key("skills")
