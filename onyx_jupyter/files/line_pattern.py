"""Searches for a pattern line by line. No pattern can block it, neither when compiled nor when searched for."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator

from onyx_jupyter.errors import InvalidArguments

_LINE_CHARS = 300
_BEFORE_CHARS = 60
_SLICE_S = 0.5
# Compiling a pattern unrolls exact repetitions, which no timeout stops; this many parts take 0.3 s, 300 MB.
_MAX_UNROLLED = 1_000_000
_REPETITION = re.compile(r"\{\s*(\d+)")


class Stopped(Exception):
    """The time is up, or the search was cancelled."""


class LinePattern:
    """One regular expression. `deadline` is in seconds of `time.monotonic`; `is_cancelled` is called before each line.

    Raises: InvalidArguments if the pattern is invalid.
    """

    def __init__(self, pattern: str, *, deadline: float, is_cancelled: Callable[[], bool]) -> None:
        import regex  # imported here, in the search thread, to keep the server start fast

        _refuse_unrolled(pattern)
        try:
            self._pattern = regex.compile(pattern, regex.MULTILINE)
        except (regex.error, RecursionError, OverflowError) as error:
            raise InvalidArguments(f"`pattern` is not a regular expression: {error}.") from error
        self._deadline = deadline
        self._is_cancelled = is_cancelled

    def check(self) -> None:
        """Raises: Stopped."""
        if self._is_cancelled() or time.monotonic() > self._deadline:
            raise Stopped

    def lines(self, text: str) -> Iterator[tuple[int, str]]:
        """Number and text of each line in which a match begins, once; a long one is shortened around the match.

        Raises: TimeoutError if one search takes too long, Stopped.
        """
        at, number, counted = 0, 1, 0
        while at <= len(text):
            self.check()
            left_s = min(_SLICE_S, max(0.01, self._deadline - time.monotonic()))
            match = self._pattern.search(text, at, timeout=left_s, concurrent=True)
            if match is None:
                return
            start = text.rfind("\n", 0, match.start()) + 1
            end = text.find("\n", match.start())
            end = len(text) if end < 0 else end
            if start == len(text) and start:  # there is no line after the last line end
                return
            number += text.count("\n", counted, start)
            counted = start
            yield number, _shortened(text[start:end], match.start() - start)
            at = end + 1


def _refuse_unrolled(pattern: str) -> None:
    """Raises: InvalidArguments. Counts every repetition as if nested in the others, so that none can hide."""
    times = [max(1, int(match[1])) for match in _REPETITION.finditer(pattern)]
    if math.prod(times) * len(pattern) > _MAX_UNROLLED:
        raise InvalidArguments("`pattern` repeats too much with {…}. Use + or *, or look for a part of it.")


def _shortened(line: str, at: int) -> str:
    if len(line) <= _LINE_CHARS:
        return line
    start = max(0, at - _BEFORE_CHARS)
    end = start + _LINE_CHARS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
