"""How many tokens a model can read, from LiteLLM's table or by a careful guess; without network access."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# The minimum among the newest models of the large providers.
HOSTED_TOKENS = 128_000
# A self-hosted server usually runs with less than its model could read, and some silently drop the rest.
OWN_SERVER_TOKENS = 32_768


def known_window(table: Mapping[str, Mapping[str, Any]], litellm_name: str, *, own_server: bool) -> int:
    """The context window in tokens, by LiteLLM's name for the model (`anthropic/claude-…`)."""
    for name in spellings(litellm_name):
        tokens = table.get(name, {}).get("max_input_tokens")
        if isinstance(tokens, int) and tokens > 0:
            return tokens
    return OWN_SERVER_TOKENS if own_server else HOSTED_TOKENS


def spellings(litellm_name: str) -> Iterator[str]:
    """The table lists some models with their provider, others without."""
    yield litellm_name
    prefix, _, model = litellm_name.partition("/")
    yield f"{prefix.removesuffix('_chat')}/{model}"
    yield model
