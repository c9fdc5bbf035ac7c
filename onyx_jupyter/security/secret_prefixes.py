"""Which secrets a text may contain at all, by the words that each kind begins with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from onyx_jupyter.security.pattern_parts import any_of
from onyx_jupyter.security.secret_pattern import Span, fold


class Secret(Protocol):
    """Something to search for: a shape or an exact value."""

    @property
    def kind(self) -> str: ...

    @property
    def folded(self) -> bool: ...

    @property
    def heads(self) -> tuple[str, ...]:
        """Every match begins with one of these."""
        ...

    def spans(self, text: str, folded: str, start: int = 0) -> Iterator[Span]: ...

    def begun(self, text: str, folded: str, start: int) -> int:
        """The first position from `start` on of a whole head whose match may continue past the end; else the length."""
        ...

    def starts(self, text: str, start: int) -> bool:
        """Whether one may start there, judging by the character before it."""
        ...


class SecretPrefixes:
    """The heads of all secrets, to search a text in one pass instead of one for each."""

    def __init__(self, secrets: Sequence[Secret]) -> None:
        self._order = {secret: place for place, secret in enumerate(secrets)}
        by_head: dict[str, set[Secret]] = {}
        self._begun: dict[str, set[Secret]] = {}
        for secret in secrets:
            for head in secret.heads:
                by_head.setdefault(fold(head), set()).add(secret)
                for size in range(1, len(head)):
                    self._begun.setdefault(head[:size], set()).add(secret)
        self._endings: dict[str, list[str]] = {}  # beginnings of heads, by their last two characters
        for begun in sorted(set(map(fold, self._begun)), key=len, reverse=True):
            self._endings.setdefault(begun[-2:], []).append(begun)
        self._any = re.compile(any_of(by_head) if by_head else "(?!)")
        self._by_head = by_head
        self._behind: dict[str, list[str]] = {}  # computed when a head is first found: settings are often reloaded

    def present(self, folded: str) -> tuple[list[Secret], int]:
        """The secrets whose heads may occur in the text, in list order, and the number of heads found."""
        found = self._any.findall(folded)
        if not found:
            return [], 0
        secrets: set[Secret] = set()
        for head in set(found):
            secrets.update(self._by_head[head])
            for other in self._begin_within(head):  # begins inside this one, and the search continued after it
                if other in folded:
                    secrets.update(self._by_head[other])
        return sorted(secrets, key=self._order.__getitem__), len(found)

    def begun(self, text: str, folded: str, start: int) -> int:
        """The first position from `start` on where the text ends inside a head."""
        for last in (folded[-2:], folded[-1:]):
            for begun in self._endings.get(last, ()):
                at = len(text) - len(begun)
                if at >= start and folded.endswith(begun) and self._may_start(text[at:], begun, text, at):
                    return at
        return len(text)

    def _begin_within(self, head: str) -> list[str]:
        if head not in self._behind:
            self._behind[head] = [other for other in self._by_head if _begins_within(other, head)]
        return self._behind[head]

    def _may_start(self, exact: str, folded: str, text: str, at: int) -> bool:
        secrets = (secret for ending in {exact, folded} for secret in self._begun.get(ending, ()))
        return any(secret.starts(text, at) for secret in secrets)


def _begins_within(other: str, head: str) -> bool:
    if other == head:
        return False
    endings = (head[at:] for at in range(len(head)))
    return any(ending.startswith(other) or other.startswith(ending) for ending in endings)
