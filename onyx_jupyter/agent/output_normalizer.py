"""Removes from a text what differs each time although nothing has changed, such as times and process numbers."""

from __future__ import annotations

import re

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_WEEKDAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*"
_PATTERNS = (
    # 2026-01-31T12:00:00.5Z, Sat Jan 31 2026, 31/Jan/2026, 31/01/2026
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?",
    rf"\b(?:{_WEEKDAY},? +)?(?:\d{{1,2}}[ /-])?{_MONTH}[ /-]+\d{{1,4}}(?:,? +\d{{4}})?\b",
    r"\b\d{1,2}/\d{1,2}/\d{4}\b",
    # 12:00, 12:00:00.5, 1:30 pm; not the location a.py:10:15
    r"(?<![\w.:])\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[AaPp]\.?[Mm]\b)?(?![\w:])",
    # seconds or milliseconds since 1970
    r"\b1[5-9]\d{8}(?:\d{3})?(?:\.\d+)?\b",
    # 0.25 s, 3 minutes, 1m30s
    r"\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|sec|secs|seconds?|m|min|mins|minutes?|h|hours?)\b",
    r"\b(?:\d+(?:\.\d+)?[hms])+\b",
    # pid 4711, process 4711, and a shell's job
    r"(?i:\b(?:p?pid|process)\b)[ =:#]*\d+",
    r"(?m:^\[\d+\] \d+$)",
    # UUID, ULID, address in memory, hash, temporary name
    r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b",
    r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b",
    r"\b0x[0-9a-fA-F]+\b",
    r"\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{8,}\b",
    r"\btmp[a-z0-9_]{8}\b",
    # the port of 127.0.0.1:54321
    r"(?:\b\d{1,3}(?:\.\d{1,3}){3}|\blocalhost):\d{4,5}\b",
    # a kernel's execution counts: In [5], Ran cell 3f2a [5]
    r"(?:\bIn|\bOut|\bcell \S{1,80}) ?\[\d+\]",
)
_VOLATILE = re.compile("|".join(_PATTERNS))


def without_volatile(text: str) -> str:
    """Replaces times, durations, process numbers, ids, hashes and addresses by `#`, and collapses whitespace."""
    return " ".join(_VOLATILE.sub("#", text).split())
