"""How much a model thinks before it answers: which of the efforts it has, and how a request asks for it.

Source: OpenAI, "Reasoning models" (`reasoning.effort`); Anthropic, "Adaptive thinking", "Extended thinking"
(`budget_tokens`); DeepSeek, "Thinking Mode"; OpenRouter, "Reasoning Tokens".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onyx_jupyter.protocols import EFFORTS
from onyx_jupyter.providers.known_providers import Dialect, EffortField

NONE = "none"
# Thinking counts within the limit of an answer, so this is added to what the answer may have. Claude's older models
# take it as their budget; 1,024 is the least that they accept.
THINKING_TOKENS: Mapping[str, int] = {
    "none": 0,
    "minimal": 1_024,
    "low": 4_096,
    "medium": 8_192,
    "high": 16_384,
    "xhigh": 32_768,
    "max": 65_536,
}
# Protocols whose models differ in their efforts, as the table of models lists them.
BY_MODEL = frozenset({"responses", "anthropic"})
# All models that think have these three; the table of models lists the others one by one.
_USUAL = ("low", "medium", "high")


def nearest(effort: str | None, efforts: Sequence[str]) -> str | None:
    """The effort, or the nearest of `efforts`, of two the lower; None if none is asked for, or none is known.

    A model stops thinking only where that is asked for.
    """
    if effort not in EFFORTS or not efforts:
        return None
    wanted = EFFORTS.index(effort)
    thinking = [one for one in efforts if one != NONE]
    return min(
        efforts if effort == NONE or not thinking else thinking,
        key=lambda one: (abs(EFFORTS.index(one) - wanted), EFFORTS.index(one)),
    )


def thinks(entry: Mapping[str, Any]) -> bool:
    """Whether a model thinks, by its entry in the table of models; one that is not listed is new, so it may."""
    return bool(entry.get("supports_reasoning")) or not entry


def listed_efforts(entry: Mapping[str, Any], otherwise: Sequence[str]) -> tuple[str, ...]:
    """The efforts that the table lists for a model of OpenAI or Anthropic; `otherwise` if the model is not listed."""
    if not entry:
        return tuple(otherwise)
    if not thinks(entry):
        return ()
    return tuple(one for one in EFFORTS if one in _USUAL or entry.get(f"supports_{one}_reasoning_effort"))


def efforts_of(dialect: Dialect, entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The efforts to choose from for a model with that entry in the table of models; empty if it has none."""
    if dialect.protocol not in BY_MODEL:
        return dialect.efforts
    efforts = listed_efforts(entry, dialect.efforts)
    can_be_without = dialect.protocol == "anthropic" and efforts and NONE not in efforts
    return (NONE, *efforts) if can_be_without else efforts


def chat_fields(field: EffortField, effort: str | None) -> dict[str, Any]:
    """What a chat completion says of it."""
    if effort is None or field == "":
        return {}
    if field == "reasoning":
        return {"reasoning": {"effort": effort}}
    if field == "reasoning_effort or thinking" and effort == NONE:
        return {"thinking": {"type": "disabled"}}
    return {"reasoning_effort": effort}


def with_thinking(max_tokens: int | None, effort: str | None) -> int | None:
    """The limit of an answer with room for the thoughts before it."""
    return max_tokens + THINKING_TOKENS[effort or NONE] if max_tokens is not None else None
