"""Reads a JSON action while it is being written: a reply's text is returned as it grows, a tool call at the end.

The input may be split anywhere. A model that ignores the format and just talks is taken at its word.
"""

from __future__ import annotations

import json
import re

from onyx_jupyter.messages import ToolCall
from onyx_jupyter.providers.json_actions import REPLY
from onyx_jupyter.providers.tool_call_deltas import new_call_id, tool_call

_REPLY_HEAD = re.compile(rf'\s*\{{\s*"name"\s*:\s*"{REPLY}"\s*,\s*"arguments"\s*:\s*\{{\s*"text"\s*:\s*"')
_NAME = re.compile(r'^\s*\{\s*"name"\s*:\s*"([^"\\]+)"')
_ARGUMENTS = re.compile(r'"arguments"\s*:\s*')
_FENCE = re.compile(r"\s*```(?:json)?\s*\n")
_FENCE_START = "```json\n"
_HIGH, _LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_STRING_PART = re.compile(
    rf"""[^"\\]+ | \\[^u] | {_HIGH}{_LOW} | (?!{_HIGH}(?:\\(?:u.{{0,3}})?)?\Z)\\u.{{4}}
      | (?P<half>\\.*) | (?P<end>".*)""",
    re.DOTALL | re.VERBOSE,
)
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class JsonActionStream:
    """Feed it the pieces, then finish it once."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Discards the input so far: it was not part of the action."""
        self._seen = ""
        self._reply: JsonText | None = None
        self._talking = False

    def feed(self, piece: str) -> str:
        """Takes the next piece; returns the part of the reply's text that it completes."""
        if self._reply is not None:
            return self._reply.feed(piece)
        if self._talking:
            return piece
        self._seen += piece
        body = _without_fence(self._seen)
        if body is None:
            return ""
        if body.strip() and not body.lstrip().startswith("{"):
            self._talking = True
            return self._seen
        head = _REPLY_HEAD.match(body)
        if head is None:
            return ""
        self._reply = JsonText()
        return self._reply.feed(body[head.end() :])

    def finish(self) -> tuple[str, tuple[ToolCall, ...]]:
        """What remains: text that could not be returned before, and the call if it was one."""
        if self._reply is not None or self._talking or not self._seen.strip():
            return "", ()
        body = (_without_fence(self._seen) or self._seen).strip()
        try:
            action, _ = json.JSONDecoder().raw_decode(body)
        except ValueError:
            return self._unfinished(body)
        name, arguments = action.get("name"), action.get("arguments", {})
        if not isinstance(name, str) or not name:
            return self._seen, ()
        if name == REPLY:
            text = arguments.get("text", "") if isinstance(arguments, dict) else arguments
            return str(text), ()
        if not isinstance(arguments, dict):
            return "", (tool_call("", name, json.dumps(arguments)),)
        return "", (ToolCall(new_call_id(), name, arguments),)

    def _unfinished(self, body: str) -> tuple[str, tuple[ToolCall, ...]]:
        """An action that broke off: a call whose arguments are malformed, or words that only look like JSON."""
        name = _NAME.match(body)
        if name is None:
            return self._seen, ()
        if name.group(1) == REPLY:
            return "", ()
        arguments = _ARGUMENTS.search(body)
        raw = body[arguments.end() :] if arguments else ""
        return "", (ToolCall(new_call_id(), name.group(1), {}, malformed=raw or body),)


class JsonText:
    """The inside of a JSON string, unescaped piece by piece up to its closing quote; the rest is ignored.

    A line end or an unknown escape, which models write and JSON parsers refuse, stands for itself.
    Source: RFC 8259, section 7.
    """

    def __init__(self) -> None:
        self._pending = ""
        self._ended = False

    def feed(self, piece: str) -> str:
        """The text that has become certain. Half an escape waits for the rest of it."""
        if self._ended:
            return ""
        source, self._pending = self._pending + piece, ""
        out = []
        for part in _STRING_PART.finditer(source):
            self._ended = part.lastgroup == "end"
            if part.lastgroup == "half":
                self._pending = part[0]
            elif not self._ended:
                out.append(_unescaped(part[0]) if part[0][0] == "\\" else part[0])
        return "".join(out)


def _unescaped(escape: str) -> str:
    try:
        character: str = json.loads(f'"{escape}"')
    except ValueError:
        return _REPLACEMENT if escape[1] == "u" else escape[1]
    return _REPLACEMENT if "\ud800" <= character <= "\udfff" else character


def _without_fence(text: str) -> str | None:
    """`text` without an opening Markdown fence; None while it may still become one."""
    stripped = text.lstrip()
    if stripped and len(stripped) < len(_FENCE_START) and _FENCE_START.startswith(stripped):
        return None
    return _FENCE.sub("", text, count=1) if stripped.startswith("```") else text
