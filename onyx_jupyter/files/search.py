"""Finds the lines of files that match a pattern, within limits of time and length. No pattern can block it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from onyx_jupyter.files.kinds import SNIFFED_BYTES, kind_of
from onyx_jupyter.files.line_pattern import LinePattern, Stopped
from onyx_jupyter.files.walk import Found

MAX_FILE_BYTES = 5_000_000
MAX_MATCHES = 200


@dataclass
class Findings:
    """The matches; `stopped` says why the search ended early. A line is `file:line:text`, or names the cell."""

    lines: list[str] = field(default_factory=list)
    files: int = 0
    too_large: int = 0
    too_slow: int = 0
    stopped: str | None = None


@dataclass(frozen=True, slots=True)
class _Match:
    where: str
    text: str


class Search:
    """One search. `deadline` is in seconds of `time.monotonic`; `is_cancelled` is called before each file.

    Raises: InvalidArguments if the pattern is invalid.
    """

    def __init__(self, pattern: str, *, max_chars: int, deadline: float, is_cancelled: Callable[[], bool]) -> None:
        self._pattern = LinePattern(pattern, deadline=deadline, is_cancelled=is_cancelled)
        self._max_chars = max_chars

    def run(self, files: Iterator[Found], shown: Callable[[Path], str]) -> Findings:
        """Searches the files; `shown` formats a path for the result."""
        found = Findings()
        used = 0
        try:
            for file in files:
                self._pattern.check()
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
            found.stopped = "Time ran out before all files were searched."
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
        return (_Match(f"{prefix}{number}", line) for number, line in self._pattern.lines(text))


def _cells(text: str) -> list[tuple[str, str]] | None:
    """A notebook's cells by number and id, with their sources; None if it is not a notebook."""
    try:
        cells = json.loads(text)["cells"]
        return [
            (f"cell {number} ({cell.get('id', 'without id')})", "".join(cell["source"]))
            for number, cell in enumerate(cells, 1)
        ]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
