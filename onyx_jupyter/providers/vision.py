"""Whether a model can see pictures, from LiteLLM's table or by its name; without network access."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from onyx_jupyter.providers.context_window import spellings

# Families in which all models see pictures, including those newer than the table.
_VISION_MODELS = re.compile(r"(?i)claude-|gemini-|gpt-(4o|4\.1|5)")


def supports_vision(table: Mapping[str, Mapping[str, Any]], litellm_name: str) -> bool:
    """By LiteLLM's name for the model (`anthropic/claude-…`)."""
    entry = next((table[name] for name in spellings(litellm_name) if name in table), None)
    return bool(entry.get("supports_vision")) if entry is not None else bool(_VISION_MODELS.search(litellm_name))
