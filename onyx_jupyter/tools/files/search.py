"""Finds the lines of files that match a pattern, within bounds of time and length. No pattern can hold it up."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from onyx_jupyter.errors import InvalidArguments
from onyx_jupyter.tools.files.kinds import SNIFFED_BYTES, kind_of
from onyx_jupyter.tools.files.walk import Found

MAX_FILE_BYTES = 5_000_000
MAX_MATCHES = 200
_LINE_CHARS = 300
_BEFORE_CHARS = 60
_SLICE_S = 0.5
# Exact repetitions are unrolled when a pattern is compiled, which no timeout ends; so many parts take 0.3 s, 300 MB.
_MAX_UNROLLED = 1_000_000
_REPETITION = re.compile(r"\{\s*(\d+)")


@dataclass
class Findings:
    """What came out; `stopped` says why it ended early. A line is `file:line:text`, or names the cell."""

    lines: list[str] = field(default_factory=list)
    files: int = 0
    too_large: int = 0
    too_slow: int = 0
    stopped: str | None = None


@dataclass(frozen=True, slots=True)
class _Match:
    where: str
    text: str


class Stopped(Exception):
    """The time is over, or nobody waits any more."""


class Search:
    """One search. `deadline` is in seconds of `time.monotonic`; `is_cancelled` is asked before each file.

    Raises: InvalidArguments where the pattern is none.
    """

    def __init__(self, pattern: str, *, max_chars: int, deadline: float, is_cancelled: Callable[[], bool]) -> None:
        import regex  # where a search runs, in a thread: a server start does not pay for it

        _refuse_unrolled(pattern)
        try:
            self._pattern = regex.compile(pattern, regex.MULTILINE)
        except (regex.error, RecursionError, OverflowError) as error:
            raise InvalidArguments(f"`pattern` is no regular expression: {error}.") from error
        self._max_chars = max_chars
        self._deadline = deadline
        self._is_cancelled = is_cancelled

    def run(self, files: Iterator[Found], shown: Callable[[Path], str]) -> Findings:
        """Goes through the files; `shown` is how a path is written in the result."""
        found = Findings()
        used = 0
        try:
            for file in files:
                self._check()
                if file.size_bytes > MAX_FILE_BYTES:
                    found.too_large += 1
                    continue
                found.files += 1
                for match in self._matches(file, found):
                    line = f"{shown(file.path)}:{match.where}:{match.text}"
                    used += len(line) + 1
                    if len(found.lines) == MAX_MATCHES or used > self._max_chars:
                        found.stopped = f"There are more than these {len(found.lines)}."
                        return found
                    found.lines.append(line)
        except Stopped:
            found.stopped = "The time was over before all files were searched."
        return found

    def _matches(self, file: Found, found: Findings) -> Iterator[_Match]:
        try:
            data = file.read(MAX_FILE_BYTES)
        except OSError:
            return
        kind = kind_of(file.path.name, data[:SNIFFED_BYTES])
        if kind.encoding is None:
            return
        text = data.decode(kind.encoding, "replace").replace("\r\n", "\n")
        cells = _cells(text) if file.path.suffix.lower() == ".ipynb" else None
        try:
            if cells is None:
                yield from self._lines(text, "")
            else:
                for name, source in cells:
                    yield from self._lines(source, f"{name}:")
        except TimeoutError:
            found.too_slow += 1

    def _lines(self, text: str, prefix: str) -> Iterator[_Match]:
        """Each line in which a match begins, once."""
        at, number, counted = 0, 1, 0
        while at <= len(text):
            self._check()
            left_s = min(_SLICE_S, max(0.01, self._deadline - time.monotonic()))
            match = self._pattern.search(text, at, timeout=left_s, concurrent=True)
            if match is None:
                return
            start = text.rfind("\n", 0, match.start()) + 1
            end = text.find("\n", match.start())
            end = len(text) if end < 0 else end
            if start == len(text) and start:  # behind the last line end there is no line
                return
            number += text.count("\n", counted, start)
            counted = start
            yield _Match(f"{prefix}{number}", _shortened(text[start:end], match.start() - start))
            at = end + 1

    def _check(self) -> None:
        if self._is_cancelled() or time.monotonic() > self._deadline:
            raise Stopped


def _refuse_unrolled(pattern: str) -> None:
    """Raises: InvalidArguments. It counts every repetition as if it stood inside the others, so none can hide."""
    times = [max(1, int(match[1])) for match in _REPETITION.finditer(pattern)]
    if math.prod(times) * len(pattern) > _MAX_UNROLLED:
        raise InvalidArguments("`pattern` repeats too much with {…}. Use + or *, or look for a part of it.")


def _cells(text: str) -> list[tuple[str, str]] | None:
    """A notebook's cells by number and id, with their sources; None where it is no notebook after all."""
    try:
        cells = json.loads(text)["cells"]
        return [
            (f"cell {number} ({cell.get('id', 'without id')})", "".join(cell["source"]))
            for number, cell in enumerate(cells, 1)
        ]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _shortened(line: str, at: int) -> str:
    if len(line) <= _LINE_CHARS:
        return line
    start = max(0, at - _BEFORE_CHARS)
    end = start + _LINE_CHARS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
