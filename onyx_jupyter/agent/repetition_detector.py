"""Detects calls that make no progress: the same call with the same result, again and again."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, deque
from dataclasses import dataclass
from typing import Literal

from onyx_jupyter.messages import ToolCall, ToolResult
from onyx_jupyter.security.external_content import unfenced

Pattern = Literal["in a row", "in turn", "in between"]


@dataclass(frozen=True, slots=True)
class Repetition:
    """The newest call was made `count` times with the same result and no progress; `other` alternates with it."""

    pattern: Pattern
    count: int
    other: ToolCall | None = None


@dataclass(frozen=True, slots=True)
class _Step:
    call: ToolCall
    call_key: str
    result_key: str
    changes: bool

    @property
    def key(self) -> tuple[str, str]:
        return self.call_key, self.result_key


class LoopDetector:
    """Looks at the newest `window` calls of a run.

    Repetitions are counted back to the last sign of progress: a change that was made for the first time, or a known
    call with a new result. So editing and running a cell again and again is not a loop, nor is polling for something
    that changes.
    """

    def __init__(self, window: int) -> None:
        self._steps: deque[_Step] = deque(maxlen=window)

    def add(self, call: ToolCall, result: ToolResult, *, is_known: bool, changes: bool) -> Repetition:
        """Returns what the newest call repeats. Arguments of an unknown tool do not count as a difference."""
        self._steps.append(_Step(call, _call_key(call, is_known), _result_key(result), changes and result.ok))
        count = self._count()
        if self._is_tail(count, 1):
            return Repetition("in a row", count)
        if self._is_tail(2 * count - 1, 2):
            return Repetition("in turn", count, self._steps[-2].call)
        return Repetition("in between", count)

    def _count(self) -> int:
        times = Counter(step.key for step in self._steps)
        results: dict[str, set[str]] = {}
        for step in self._steps:
            results.setdefault(step.call_key, set()).add(step.result_key)
        newest, count = self._steps[-1], 0
        for step in reversed(self._steps):
            if step.key == newest.key:
                count += 1
                continue
            is_news = times[step.key] == 1 and (step.changes or len(results[step.call_key]) > 1)
            if is_news or step.call_key == newest.call_key:
                break
        return count

    def _is_tail(self, length: int, period: int) -> bool:
        """Whether the newest `length` calls repeat with that period."""
        keys = [step.key for step in self._steps][-length:]
        return all(key == earlier for key, earlier in zip(keys[period:], keys, strict=False))


def _call_key(call: ToolCall, is_known: bool) -> str:
    arguments = call.malformed if call.malformed is not None else dict(call.arguments)
    return json.dumps([call.name, arguments if is_known else None], sort_keys=True, ensure_ascii=False, default=str)


def _result_key(result: ToolResult) -> str:
    parts = [without_volatile(unfenced(result.output)), *(attachment.data for attachment in result.attachments)]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


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
