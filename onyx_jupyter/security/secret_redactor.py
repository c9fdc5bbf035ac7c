"""Removes secrets from text before it reaches a model, a file, a log or a screen. It stores them nowhere else.

A mark, `[redacted:kind]`, replaces each secret; a text with a mark is no longer the original one.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from onyx_jupyter.messages import Attachment, Link, Message, ToolCall, ToolResult
from onyx_jupyter.security.known_secrets import known_secrets
from onyx_jupyter.security.secret_pattern import fold
from onyx_jupyter.security.secret_patterns import (
    PASSWORD_NAMES,
    SECRET_KEY_NAMES,
    SHAPES,
    VARIABLE_KEY_NAMES,
    VARIABLE_PASSWORD_NAMES,
    VARIABLE_TOKEN_NAMES,
)
from onyx_jupyter.security.secret_prefixes import Secret, SecretPrefixes
from onyx_jupyter.security.secret_values import assigned_password, assigned_secret, variable_secret, variable_token

_ALWAYS_SCANNED_CHARS = 128
_MAX_WAITED_CHARS = 512
LARGE_CHARS = 65_536
Content = TypeVar("Content")
Redacted = TypeVar("Redacted")
_MARK = re.compile(r"\[redacted:", re.IGNORECASE)
_TEXT_TYPES = re.compile(
    r"text/|application/(?:json|x-ipynb\+json|xml|x-yaml|yaml|toml|javascript)\b|.*\+(?:json|xml)$"
)


Found = tuple[int, int, int, str]
"""Start of the match, start and end of the secret in it, and its kind."""


class Scan(NamedTuple):
    """`begun` is where a secret may begin that continues past the end; the length if there is none.

    `found` are the secrets of the text, empty if nothing precedes that place; `heads` is how many words occur that
    secrets begin with.
    """

    begun: int
    found: list[Found]
    heads: int


class SecretRedactor:
    """Knows the exact secrets of this server and the shapes of common ones."""

    def __init__(self, values: Mapping[str, str], *, shapes: bool = True) -> None:
        """`values` is value → kind, the word in its mark; `shapes` False removes only the exact values."""
        self._secrets: tuple[Secret, ...] = (*known_secrets(values), *(SHAPES if shapes else ()))
        self._shapes = shapes
        self._heads = SecretPrefixes(self._secrets)

    def apply(self, text: str) -> str:
        """The text with every secret replaced; the same text gives the same result."""
        return _replaced(text, [(start, end, kind) for _, start, end, kind in self.spans(text)])

    def redact_data(self, data: Any) -> Any:
        """JSON-like data with every secret replaced, also if only the key says that its value is a secret."""
        if isinstance(data, str):
            return self.apply(data)
        if isinstance(data, Mapping):
            if "mimeType" in data and isinstance(data.get("data"), str):
                return {**data, "data": self._redact_base64(str(data["mimeType"]), data["data"])}
            return {self.redact_data(key): self._redact_value(key, value) for key, value in data.items()}
        if isinstance(data, list | tuple):
            return [self.redact_data(item) for item in data]
        return data

    def redact_attachment(self, attachment: Attachment) -> Attachment:
        """A text attachment without secrets; a picture unchanged."""
        return replace(attachment, data=self._redact_base64(attachment.mime_type, attachment.data))

    def redact_result(self, result: ToolResult) -> ToolResult:
        """The result without secrets, including those in attached texts."""
        attachments = tuple(map(self.redact_attachment, result.attachments))
        own_head, own_tail = self.apply(result.own_head), self.apply(result.own_tail)
        told = replace(result, output=self.apply(result.output), own_head=own_head, own_tail=own_tail)
        label, failure = result.label, result.failure
        return replace(
            told,
            attachments=attachments,
            data=self.redact_data(result.data),
            label=label and replace(label, object=self.apply(label.object), links=tuple(map(self._link, label.links))),
            failure=failure and replace(failure, reason=self.apply(failure.reason)),
        )

    def _link(self, link: Link) -> Link:
        return replace(link, path=self.apply(link.path), cell_id=link.cell_id and self.apply(link.cell_id))

    def redact_call(self, call: ToolCall) -> ToolCall:
        """The call with secrets in its arguments replaced; it can no longer do its work."""
        malformed = None if call.malformed is None else self.apply(call.malformed)
        return replace(call, arguments=self.redact_data(call.arguments), malformed=malformed)

    def spans(self, text: str, start: int = 0) -> list[Found]:
        """All secrets from `start` on, in order; overlapping ones are merged.

        A match begins with the words that identify the secret, such as the name before a password.
        """
        folded = fold(text)
        return self._spans(text, folded, self._heads.present(folded)[0], start)

    def scan(self, text: str, start: int) -> Scan:
        """For a stream whose text from `start` on has not been sent yet: where to stop, and the secrets in it."""
        folded = fold(text)
        present, heads = self._heads.present(folded)
        begun = self._heads.begun(text, folded, start)
        if not present:
            return Scan(begun, [], 0)
        begun = min(begun, *(secret.begun(text, folded, start) for secret in present))
        return Scan(begun, self._spans(text, folded, present, start) if begun > start else [], heads)

    def _spans(self, text: str, folded: str, present: Sequence[Secret], start: int) -> list[Found]:
        found = [
            (match, begin, end, secret.kind)
            for secret in present
            for match, begin, end in secret.spans(text, folded, start)
        ]
        if not found:
            return []
        found.sort(key=lambda span: (span[1], -span[2]))  # stable: among equals, the first in the list names the kind
        merged: list[Found] = []
        for match, start, end, kind in found:
            if merged and start < merged[-1][2]:
                first = merged[-1]
                merged[-1] = (min(first[0], match), first[1], max(first[2], end), first[3])
            else:
                merged.append((match, start, end, kind))
        return merged

    def _redact_value(self, key: Any, value: Any) -> Any:
        redacted = self.redact_data(value)
        if self._shapes and isinstance(key, str) and isinstance(value, str) and redacted == value:
            return _redacted_for_its_key(key, value)
        return redacted

    def _redact_base64(self, mime_type: str, data: str) -> str:
        if not _TEXT_TYPES.match(mime_type):
            return data
        try:
            text = base64.b64decode(data, validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            return data
        redacted = self.apply(text)
        return data if redacted == text else base64.b64encode(redacted.encode()).decode()


async def redact_off_loop(redact: Callable[[Content], Redacted], content: Content) -> Redacted:
    """The result of `redact`, in a thread if the content is so large that it would block the event loop."""
    if _chars(content, LARGE_CHARS) < LARGE_CHARS:
        return redact(content)
    return await asyncio.to_thread(redact, content)


def no_secrets() -> SecretRedactor:
    """A filter that removes nothing."""
    return _NONE


class SecretStream:
    """Filters an answer that streams: holds back only what may be the beginning of a secret.

    However the text is split, the output equals `apply` on the whole. A long held part is searched again only once it
    has grown by half; if words that begin secrets are dense, only after some more text. So the work stays proportional
    to the text.
    """

    def __init__(self, secrets: SecretRedactor) -> None:
        self._secrets = secrets
        self._seen = ""  # the last character sent: whether a secret may begin depends on what precedes it
        self._held = ""
        self._new: list[str] = []
        self._new_chars = 0
        self._next_scan_chars = 0

    def feed(self, text: str) -> str:
        """What can be shown now."""
        self._new.append(text)
        self._new_chars += len(text)
        if self._new_chars < self._next_scan_chars:
            return ""
        whole, seen = self._whole(), len(self._seen)
        scan = self._secrets.scan(whole, seen)
        cut = scan.begun
        for match, _, end, _ in reversed(scan.found):
            if match < cut < end:
                cut = match  # without the words before it, a secret is no longer recognised
        shown = self._give(whole, max(cut, seen), scan.found)
        held = len(self._held)
        grown = held // 2 if held > _ALWAYS_SCANNED_CHARS else 0
        self._next_scan_chars = max(grown, min(_MAX_WAITED_CHARS, 6 * scan.heads * (scan.heads - 1)))
        return shown

    def finish(self) -> str:
        """The rest."""
        whole = self._whole()
        return self._give(whole, len(whole), self._secrets.spans(whole, len(self._seen)))

    def _whole(self) -> str:
        whole = "".join((self._seen, self._held, *self._new))
        self._new.clear()
        self._new_chars = 0
        return whole

    def _give(self, whole: str, cut: int, spans: Sequence[Found]) -> str:
        seen = len(self._seen)
        text = whole[seen:cut]
        if spans and text:
            ready = [(start - seen, end - seen, kind) for _, start, end, kind in spans if end <= cut]
            text = _replaced(text, ready)
        if cut:
            self._seen = whole[cut - 1]
        self._held = whole[cut:]
        return text


def mark(kind: str) -> str:
    """The replacement for a secret."""
    return f"[redacted:{kind}]"


def marked(data: Any, name: str = "") -> str | None:
    """The dotted name of the first value that contains a mark; None if there is none."""
    if isinstance(data, str):
        return name if _MARK.search(data) else None
    items = data.items() if isinstance(data, Mapping) else enumerate(data) if isinstance(data, list | tuple) else ()
    for key, value in items:
        place = f"{name}.{key}" if name else str(key)
        if (isinstance(key, str) and _MARK.search(key)) or (found := marked(value, place)) is not None:
            return place if isinstance(key, str) and _MARK.search(key) else found
    return None


def _chars(content: Any, enough: int) -> int:
    """How much text there is to search, counted up to `enough`."""
    if isinstance(content, str):
        return len(content)
    if isinstance(content, ToolCall):
        return len(content.malformed or "") + _chars(content.arguments, enough)
    if isinstance(content, ToolResult):
        texts = len(content.output) + sum(len(attachment.data) for attachment in content.attachments)
        return texts + _chars(content.data, enough)
    if isinstance(content, Message):
        words = len(content.content) + len(content.context) + sum(len(one.data) for one in content.attachments)
        return words + _chars(content.tool_calls, enough)
    items = content.values() if isinstance(content, Mapping) else content if isinstance(content, list | tuple) else ()
    total = 0
    for item in items:
        total += _chars(item, enough - total)
        if total >= enough:
            break
    return total


def _redacted_for_its_key(key: str, value: str) -> str:
    name = fold(key).replace("-", "_")
    if name.endswith(PASSWORD_NAMES) and assigned_password(value):
        return mark("password")
    if name.endswith(SECRET_KEY_NAMES) and assigned_secret(value):
        return mark("secret")
    if key.endswith(VARIABLE_PASSWORD_NAMES) and variable_secret(value):
        return mark("password")
    if key.endswith(VARIABLE_KEY_NAMES) and variable_secret(value):
        return mark("secret")
    return mark("token") if key.endswith(VARIABLE_TOKEN_NAMES) and variable_token(value) else value


def _replaced(text: str, spans: Sequence[tuple[int, int, str]]) -> str:
    if not spans:
        return text
    parts, past = [], 0
    for start, end, kind in spans:
        parts += [text[past:start], mark(kind)]
        past = end
    return "".join([*parts, text[past:]])


_NONE = SecretRedactor({}, shapes=False)
