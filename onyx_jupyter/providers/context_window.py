"""How many tokens a model can read, from LiteLLM's own table or by a careful guess. It asks nobody on the network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# What models of the large providers read at the least, as of their newest ones.
HOSTED_TOKENS = 128_000
# A server of one's own is usually started with less than its model could read, and some drop the rest without a word.
OWN_SERVER_TOKENS = 32_768


def known_window(table: Mapping[str, Mapping[str, Any]], litellm_name: str, *, own_server: bool) -> int:
    """The window in tokens of a model by LiteLLM's name for it (`anthropic/claude-…`)."""
    for name in spellings(litellm_name):
        tokens = table.get(name, {}).get("max_input_tokens")
        if isinstance(tokens, int) and tokens > 0:
            return tokens
    return OWN_SERVER_TOKENS if own_server else HOSTED_TOKENS


def spellings(litellm_name: str) -> Iterator[str]:
    """The table names some models with their provider, others without."""
    yield litellm_name
    prefix, _, model = litellm_name.partition("/")
    yield f"{prefix.removesuffix('_chat')}/{model}"
    yield model
