"""Tool calls that a model writes as text, though it was offered tools. An answer that merely contains one is unchanged.

The whole text has to be the call, bare, in `<tool_call>` tags or in one fence, and name a tool that was offered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from onyx_jupyter.messages import ToolCall
from onyx_jupyter.providers.tool_call_deltas import MAX_CALLS, tool_call

_TAG = "<tool_call>"
_FENCE = "```"
_LANGUAGES = ("", "json", "tool_call")
_FENCED = re.compile(r"```(?:json|tool_call)?[ \t]*\n(.*?)\s*```", re.DOTALL)
_OPENS = re.compile(r"\s*<tool_call>\s*")
_CLOSES = re.compile(r"\s*(?:</tool_call>|\Z)")
_HEAD_CHARS = 300
_ARGUMENTS = ("arguments", "parameters")


class TextCalls:
    """Feed it the pieces of an answer, then finish it once. Text that can still become a call is held back."""

    def __init__(self, offered: Collection[str]) -> None:
        self._offered = offered
        self._heads = [f'{{"name":"{name}"' for name in offered]
        self._heads += [f'{{"{key}":{{' for key in _ARGUMENTS] + ['{"type":"function"'] if offered else []
        self.reset()

    def reset(self) -> None:
        """Discards the input so far: it was not part of the answer."""
        self._pieces: list[str] = []
        self._head = ""
        self._talking = not self._offered

    @property
    def held(self) -> str:
        """The text held back so far."""
        return "".join(self._pieces)

    def feed(self, piece: str) -> str:
        """Takes the next piece; returns what has turned out to be words."""
        if self._talking:
            return piece
        self._pieces.append(piece)
        if len(self._head) >= _HEAD_CHARS:  # it began like a call
            return ""
        self._head += piece
        if self._may_be_a_call():
            return ""
        self._talking, said = True, self.held
        self._pieces.clear()
        return said

    def finish(self) -> tuple[str, tuple[ToolCall, ...]]:
        """The text held back if it is not a call, or the calls that it contains."""
        calls = () if self._talking else self._calls()
        return ("", calls) if calls else (self.held, ())

    def _may_be_a_call(self) -> bool:
        start = self._head[:_HEAD_CHARS].lstrip()
        if not start:
            return len(self._head) < _HEAD_CHARS
        if _TAG.startswith(start) or _FENCE.startswith(start):
            return True
        if start.startswith(_FENCE):
            language, line_end, start = start.removeprefix(_FENCE).partition("\n")
            if not line_end:
                return any(name.startswith(language) for name in _LANGUAGES)
            if language.strip() not in _LANGUAGES:
                return False
        head = "".join(start.removeprefix(_TAG).split())
        return any(known.startswith(head) or head.startswith(known) for known in self._heads)

    def _calls(self) -> tuple[ToolCall, ...]:
        text = self.held.strip()
        fenced = _FENCED.fullmatch(text)
        try:
            read = _tagged(text) if text.startswith(_TAG) else [json.loads(fenced[1] if fenced else text)]
        except (ValueError, RecursionError):
            return ()
        calls = [call for action in read if (call := self._call(action)) is not None]
        return tuple(calls) if len(calls) == len(read) <= MAX_CALLS else ()

    def _call(self, action: Any) -> ToolCall | None:
        """None for anything except a call of an offered tool with nothing beside it."""
        name = action.get("name") if isinstance(action, dict) else None
        if not isinstance(name, str) or name not in self._offered:
            return None
        keys = set(action) - {"name"}
        if action.get("type") == "function":
            keys.remove("type")
        if len(keys) != 1 or not keys.issubset(_ARGUMENTS):
            return None
        (arguments,) = (action[key] for key in keys)
        raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call = tool_call("", name, raw)
        return call if call.malformed is None else None


def _tagged(text: str) -> list[Any]:
    """The contents of the tags, one after another; the last may be unclosed. Raises: ValueError."""
    read: list[Any] = []
    at = 0
    while at < len(text):
        opens = _OPENS.match(text, at)
        if opens is None:
            raise ValueError("words beside the call")
        action, at = json.JSONDecoder().raw_decode(text, opens.end())
        read.append(action)
        closes = _CLOSES.match(text, at)
        if closes is None:
            raise ValueError("words beside the call")
        at = closes.end()
    return read
