"""Takes secrets out of text before it reaches a model, a file, a log or a screen. It stores them nowhere else.

In a secret's place stands a mark, `[redacted:kind]`; a text that holds one is no longer the real one.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from onyx_jupyter.messages import Attachment, ToolCall, ToolResult
from onyx_jupyter.security.known_secrets import known_secrets
from onyx_jupyter.security.secret_shapes import (
    PASSWORD_NAMES,
    SECRET_KEY_NAMES,
    SHAPES,
    assigned_password,
    assigned_secret,
)
from onyx_jupyter.security.shape import Span, fold, found_at

_MARK = re.compile(r"\[redacted:", re.IGNORECASE)
_TEXT_TYPES = re.compile(
    r"text/|application/(?:json|x-ipynb\+json|xml|x-yaml|yaml|toml|javascript)\b|.*\+(?:json|xml)$"
)


class Secret(Protocol):
    """Something to look for: a shape or an exact value."""

    @property
    def kind(self) -> str: ...

    @property
    def folded(self) -> bool: ...

    @property
    def heads(self) -> tuple[str, ...]: ...

    def spans(self, text: str, folded: str) -> Iterator[Span]: ...

    def may_begin(self, text: str, folded: str, start: int) -> bool: ...


class SecretsFilter:
    """Knows the exact secrets of this server and the shapes of common ones."""

    def __init__(self, values: Mapping[str, str], *, shapes: bool = True) -> None:
        """`values` is value → kind, the word in its mark; `shapes` False takes out the exact values alone."""
        self._secrets: tuple[Secret, ...] = (*known_secrets(values), *(SHAPES if shapes else ()))
        self._shapes = shapes
        self._heads = tuple((secret, secret.heads) for secret in self._secrets)
        self._begun_heads = _begun_heads(self._secrets)
        self._longest_head = max(map(len, self._begun_heads), default=0)
        every = "|".join(re.escape(fold(head)) for _, heads in self._heads for head in heads)
        self._any_head = re.compile(every or "(?!)")

    def apply(self, text: str) -> str:
        """The text with every secret replaced; the same text gives the same result."""
        return _replaced(text, [(start, end, kind) for _, start, end, kind in self.spans(text)])

    def redact_data(self, data: Any) -> Any:
        """JSON-like data with every secret replaced, also where the key says that its value is one."""
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
        """One that is text, without secrets; a picture as it is."""
        return replace(attachment, data=self._redact_base64(attachment.mime_type, attachment.data))

    def redact_result(self, result: ToolResult) -> ToolResult:
        """The result without secrets, those in its texts attached included."""
        attachments = tuple(map(self.redact_attachment, result.attachments))
        return replace(result, output=self.apply(result.output), attachments=attachments)

    def redact_call(self, call: ToolCall) -> ToolCall:
        """The call with secrets in its arguments replaced; it cannot do any more what it was to do."""
        malformed = None if call.malformed is None else self.apply(call.malformed)
        return replace(call, arguments=self.redact_data(call.arguments), malformed=malformed)

    def spans(self, text: str) -> list[tuple[int, int, int, str]]:
        """Of every secret, in order: where its match begins, its start, end and kind; those that overlap are one.

        A match begins with the words by which a secret is known, such as the name in front of a password.
        """
        folded = fold(text)
        if self._any_head.search(folded) is None:
            return []
        found = [
            (match, start, end, secret.kind)
            for secret, heads in self._heads
            if any(head in (folded if secret.folded else text) for head in heads)
            for match, start, end in secret.spans(text, folded)
        ]
        found.sort(key=lambda span: (span[1], -span[2]))  # stable: of equal ones the first in the list names the kind
        merged: list[tuple[int, int, int, str]] = []
        for match, start, end, kind in found:
            if merged and start < merged[-1][2]:
                first = merged[-1]
                merged[-1] = (min(first[0], match), first[1], max(first[2], end), first[3])
            else:
                merged.append((match, start, end, kind))
        return merged

    def beginning(self, text: str, start: int) -> int:
        """Where, from `start` on, a secret may have begun that goes on beyond the end; the length where none has."""
        folded = fold(text)
        places: set[tuple[int, Secret]] = set()
        if self._any_head.search(folded, start) is not None:
            for secret, heads in self._heads:
                searched = folded if secret.folded else text
                places |= {(at, secret) for head in heads for at in found_at(searched, head, start)}
        for size in range(1, min(len(text) - start, self._longest_head) + 1):
            at = len(text) - size
            for ending in {text[at:], folded[at:]}:
                places |= {(at, secret) for secret in self._begun_heads.get(ending, ())}
        return min((at for at, secret in places if secret.may_begin(text, folded, at)), default=len(text))

    def _redact_value(self, key: Any, value: Any) -> Any:
        redacted = self.redact_data(value)
        if self._shapes and isinstance(key, str) and isinstance(value, str) and redacted == value:
            name = fold(key).replace("-", "_")
            if name.endswith(PASSWORD_NAMES) and assigned_password(value):
                return mark("password")
            if name.endswith(SECRET_KEY_NAMES) and assigned_secret(value):
                return mark("secret")
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


def no_secrets() -> SecretsFilter:
    """A filter that lets everything pass."""
    return _NONE


class SecretStream:
    """A text filter for an answer that streams: holds back only what may be the beginning of a secret.

    However the text is cut into pieces, what comes out is what `apply` makes of the whole.
    """

    def __init__(self, secrets: SecretsFilter) -> None:
        self._secrets = secrets
        self._seen = ""  # the last character that went out: what may begin depends on what stands before
        self._held = ""

    def feed(self, text: str) -> str:
        """What can be shown now."""
        self._held += text
        whole = self._seen + self._held
        cut = self._secrets.beginning(whole, len(self._seen))
        spans = self._secrets.spans(whole)
        while earlier := [match for match, _, end, _ in spans if match < cut < end]:
            cut = min(earlier)  # a secret that has lost the words before it is not known any more
        return self._give(whole, max(cut, len(self._seen)), spans)

    def finish(self) -> str:
        """The rest."""
        whole = self._seen + self._held
        return self._give(whole, len(whole), self._secrets.spans(whole))

    def _give(self, whole: str, cut: int, spans: Sequence[tuple[int, int, int, str]]) -> str:
        seen = len(self._seen)
        ready = [(start - seen, end - seen, kind) for _, start, end, kind in spans if start >= seen and end <= cut]
        text = _replaced(whole[seen:cut], ready)
        self._seen, self._held = whole[:cut][-1:], whole[cut:]
        return text


def mark(kind: str) -> str:
    """What stands in the place of a secret."""
    return f"[redacted:{kind}]"


def marked(data: Any, name: str = "") -> str | None:
    """The dotted name of the first value that holds a mark; None where there is none."""
    if isinstance(data, str):
        return name if _MARK.search(data) else None
    items = data.items() if isinstance(data, Mapping) else enumerate(data) if isinstance(data, list | tuple) else ()
    for key, value in items:
        place = f"{name}.{key}" if name else str(key)
        if (isinstance(key, str) and _MARK.search(key)) or (found := marked(value, place)) is not None:
            return place if isinstance(key, str) and _MARK.search(key) else found
    return None


def _replaced(text: str, spans: Sequence[tuple[int, int, str]]) -> str:
    if not spans:
        return text
    parts, past = [], 0
    for start, end, kind in spans:
        parts += [text[past:start], mark(kind)]
        past = end
    return "".join([*parts, text[past:]])


def _begun_heads(secrets: Sequence[Secret]) -> dict[str, set[Secret]]:
    begun: dict[str, set[Secret]] = {}
    for secret in secrets:
        for head in secret.heads:
            for size in range(1, len(head)):
                begun.setdefault(head[:size], set()).add(secret)
    return begun


_NONE = SecretsFilter({}, shapes=False)
