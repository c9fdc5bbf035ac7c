"""What this feature gives to itself and to the surfaces, by name. What other features use is in `operations.keys`."""

from __future__ import annotations

from onyx_jupyter.features.skills.skills import Skills
from onyx_jupyter.operations.parts import Key

SKILLS: Key[Skills] = Key("skills")
