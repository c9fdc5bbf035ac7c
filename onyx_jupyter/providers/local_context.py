"""Fits a conversation into a small context window by dropping its oldest turns. Calls keep their results."""

from __future__ import annotations

from collections.abc import Sequence

from onyx_jupyter.messages import Message

# Measured on English, code and JSON with small models' tokenizers: 3 to 4.5 characters a token. Low is safe.
CHARS_PER_TOKEN = 3.0
_MESSAGE_TOKENS = 8
_CUT_MARK = "\n[… shortened …]\n"
# What Message.text puts around a context, and the length below which a context is useless.
_FRAME_CHARS = 20
_MIN_CONTEXT_CHARS = 100


def fit(messages: Sequence[Message], budget_tokens: int, *, chars_per_token: float = CHARS_PER_TOKEN) -> list[Message]:
    """The newest turns that fit. The last turn always stays; if it alone is too long, its texts are shortened."""
    turns = _turns(messages)
    kept = turns[-1] if turns else []
    for turn in reversed(turns[:-1]):
        if estimate([*turn, *kept], chars_per_token) > budget_tokens:
            break
        kept = [*turn, *kept]
    if estimate(kept, chars_per_token) <= budget_tokens:
        return kept
    return _shorten(kept, budget_tokens, chars_per_token)


def estimate(messages: Sequence[Message], chars_per_token: float = CHARS_PER_TOKEN) -> int:
    """Estimates the tokens of these messages, preferably too high."""
    return sum(int(_length(message) / chars_per_token) + _MESSAGE_TOKENS for message in messages)


def _turns(messages: Sequence[Message]) -> list[list[Message]]:
    """Each turn begins with a user's message and includes everything up to the next one."""
    turns: list[list[Message]] = []
    for message in messages:
        if message.role == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def _shorten(messages: Sequence[Message], budget_tokens: int, chars_per_token: float) -> list[Message]:
    share = max(1, budget_tokens // max(1, len(messages)) - _MESSAGE_TOKENS)
    limit_chars = max(int(share * chars_per_token), len(_CUT_MARK) + 2)
    return [_cut(message, limit_chars) for message in messages]


def _cut(message: Message, limit_chars: int) -> Message:
    """What was said takes precedence over the context sent with it."""
    if len(message.text) <= limit_chars:
        return message
    content = _cut_middle(message.content, limit_chars)
    left = limit_chars - len(content) - _FRAME_CHARS
    context = _cut_middle(message.context, left) if left > _MIN_CONTEXT_CHARS else ""
    return Message(message.role, content, message.tool_calls, message.tool_call_id, context)


def _cut_middle(text: str, limit_chars: int) -> str:
    if len(text) <= limit_chars:
        return text
    half = (limit_chars - len(_CUT_MARK)) // 2
    return text[:half] + _CUT_MARK + text[-half:]


def _length(message: Message) -> int:
    return len(message.text) + sum(len(call.name) + len(str(dict(call.arguments))) for call in message.tool_calls)
