"""Whether a model can see pictures, from LiteLLM's own table or by its name. It asks nobody on the network."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from onyx_jupyter.providers.context_window import spellings

# Families whose members all see: a model that came out after the table does, too.
_SEEING = re.compile(r"(?i)claude-|gemini-|gpt-(4o|4\.1|5)")


def can_see(table: Mapping[str, Mapping[str, Any]], litellm_name: str) -> bool:
    """For a model by LiteLLM's name for it (`anthropic/claude-…`)."""
    entry = next((table[name] for name in spellings(litellm_name) if name in table), None)
    return bool(entry.get("supports_vision")) if entry is not None else bool(_SEEING.search(litellm_name))
