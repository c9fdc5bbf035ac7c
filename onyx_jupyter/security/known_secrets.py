"""The exact secrets of this server, in every form in which they may be written. It never shows one."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus

from onyx_jupyter.security.secret_pattern import Span, found_at
from onyx_jupyter.security.secret_values import assigned_secret

MIN_SECRET_CHARS = 8
HEAD_CHARS = 16
_SECRET_VARIABLE = re.compile(
    r"(API_?KEY|ACCESS_KEY(_ID)?|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$", re.IGNORECASE
)
_MAYBE_SECRET_VARIABLE = re.compile(r"KEY$|_PAT$|_AUTH$", re.IGNORECASE)
_PATH = re.compile(r"[/~.]|[A-Za-z]:\\")
# Placeholders for local servers that insist on a key: words that occur in ordinary text.
_NO_SECRETS = frozenset(
    {"lm-studio", "lmstudio", "not-needed", "not-required", "no-key-required", "sk-no-key-required", "placeholder"}
    | {"anything", "dummy-key", "undefined", "required", "disabled"}
)


class KnownSecret:
    """One exact value in all its spellings; has the interface of a Shape, so that both are searched alike."""

    folded = False

    def __init__(self, kind: str, value: str) -> None:
        self.kind = kind
        self._spellings = tuple(sorted(_spellings(value), key=len, reverse=True))
        self._longest = len(self._spellings[0]) if self._spellings else 0
        self.heads = tuple({spelling[:HEAD_CHARS] for spelling in self._spellings})

    def spans(self, text: str, folded: str, start: int = 0) -> Iterator[Span]:
        """Where it occurs in any spelling, from `start` on."""
        for spelling in self._spellings:
            for place in found_at(text, spelling, start):
                yield place, place, place + len(spelling)

    def begun(self, text: str, folded: str, start: int) -> int:
        """The first position from `start` on at which it may begin and continue past the end of the text."""
        first = max(start, len(text) - self._longest + 1)
        places = (at for head in self.heads for at in found_at(text, head, first))
        return min((at for at in places if self._may_continue(text[at:])), default=len(text))

    def starts(self, text: str, start: int) -> bool:
        """Always: a value may start anywhere."""
        return True

    def _may_continue(self, rest: str) -> bool:
        return any(spelling.startswith(rest) and spelling != rest for spelling in self._spellings)


def known_secrets(values: Mapping[str, str]) -> list[KnownSecret]:
    """One for each value (value → kind) that is long enough not to be an ordinary word."""
    return [KnownSecret(kind, value) for value, kind in values.items() if _is_specific(value)]


def environment_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Value → kind of all variables with a secret's name; a path to a secret is not one."""
    return {value: "environment" for name, value in environment.items() if _is_secret(name, value)}


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The other variables: the environment for a process that needs no key."""
    return {name: value for name, value in environment.items() if not _is_secret(name, value)}


def _is_secret(name: str, value: str) -> bool:
    sure = _SECRET_VARIABLE.search(name) is not None
    maybe = _MAYBE_SECRET_VARIABLE.search(name) is not None and assigned_secret(value)
    return (sure or maybe) and not _PATH.match(value)


def _is_specific(value: str) -> bool:
    return len(value) >= MIN_SECRET_CHARS and value.lower() not in _NO_SECRETS and value not in "[redacted:environment]"


def _spellings(value: str) -> set[str]:
    """The value as it is, in a URL, in JSON, and in base64 at any offset in a longer text."""
    escaped = {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (False, True)}
    spellings = {value, *escaped, quote(value, safe="", errors="replace"), quote_plus(value, errors="replace")}
    raw = value.encode("utf-8", "replace")
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw)
        bits = (offset + len(raw)) * 8
        inner = encoded[(offset * 8 + 5) // 6 : bits // 6].decode()
        spellings |= {inner, inner.translate(str.maketrans("+/", "-_"))}
    return {spelling for spelling in spellings if len(spelling) >= MIN_SECRET_CHARS}
