"""Replaces one exact passage of a text, or reports the nearest match instead. It never guesses."""

from __future__ import annotations

import difflib
import heapq
import time
from bisect import bisect_left
from dataclasses import dataclass

from onyx_jupyter.errors import ToolError

_PLACES_NAMED = 10
_WINDOWS_COMPARED = 40
_NEAREST_S = 1.0
_SIMILAR_ENOUGH = 0.4
_PASSAGE_LINES = 60


class NoUniqueMatch(ToolError):
    """The passage occurs nowhere, or more than once."""

    code = "no_single_match"


@dataclass(frozen=True, slots=True)
class Replaced:
    """The new text, and the lines (from 1) of the new passage."""

    text: str
    first_line: int
    last_line: int


def replace_once(text: str, old: str, new: str) -> Replaced:
    """Replaces `old`, which must occur in `text` exactly once; ignores differing line ends, and keeps the text's own.

    Raises: NoUniqueMatch with the nearest match, or with every place.
    """
    plain, removed = _with_unix_ends(text)
    old = old.replace("\r\n", "\n")
    places = _places(plain, old)
    if places[1:]:
        raise NoUniqueMatch(_several(plain, places)).mark_message_safe()
    if not places:
        raise NoUniqueMatch(_nearest(plain, old))
    start, end = (_original(at, removed) for at in (places[0], places[0] + len(old)))
    new = new.replace("\r\n", "\n")
    line = plain.count("\n", 0, places[0]) + 1
    inserted = new.replace("\n", "\r\n") if _uses_windows_ends(text, start, end) else new
    return Replaced(text[:start] + inserted + text[end:], line, line + new.removesuffix("\n").count("\n"))


def _with_unix_ends(text: str) -> tuple[str, list[int]]:
    """The text with only \\n, and the positions in it where a \\r was removed."""
    removed: list[int] = []
    at = text.find("\r\n")
    while at >= 0:
        removed.append(at - len(removed))
        at = text.find("\r\n", at + 2)
    return text.replace("\r\n", "\n"), removed


def _original(at: int, removed: list[int]) -> int:
    return at + bisect_left(removed, at)


def _uses_windows_ends(text: str, start: int, end: int) -> bool:
    passage = text[start:end] if "\n" in text[start:end] else text
    return passage.count("\r\n") * 2 > passage.count("\n")


def _places(text: str, old: str) -> list[int]:
    found: list[int] = []
    at = text.find(old)
    while at >= 0:
        found.append(at)
        at = text.find(old, at + 1)
    return found


def _several(text: str, places: list[int]) -> str:
    lines = ", ".join(str(text.count("\n", 0, at) + 1) for at in places[:_PLACES_NAMED])
    more = f" and {len(places) - _PLACES_NAMED} more" if len(places) > _PLACES_NAMED else ""
    return (
        f"oldText occurs {len(places)} times, starting in lines {lines}{more}. Include more of the text around the "
        "one you mean."
    )


def _nearest(text: str, old: str) -> str:
    """The most similar passage in the text, with its lines, and the differences."""
    wanted, lines = old.split("\n"), text.split("\n")
    start = _nearest_window(lines, wanted)
    if start is None:
        return "oldText was not found, nor anything like it. Read the file again."
    found = lines[start : start + len(wanted)]
    where = f"line {start + 1}" if len(found) == 1 else f"lines {start + 1} to {start + len(found)}"
    if len(wanted) > _PASSAGE_LINES:
        return f"oldText was not found. The nearest is {where}: read them, and give a shorter passage."
    passage = "\n".join(f"{number}\t{line}" for number, line in enumerate(found, start + 1))
    return f"oldText was not found. The nearest is {where}:\n{passage}\n{_difference(wanted, found)}"


def _difference(wanted: list[str], found: list[str]) -> str:
    if "".join("".join(wanted).split()) == "".join("".join(found).split()):
        wanted, found = [_visible(line) for line in wanted], [_visible(line) for line in found]
        heading = "Only whitespace differs (→ is a tab, · a space; - oldText, + the file):"
    else:
        heading = "What differs (- oldText, + the file):"
    changes = [line for line in difflib.ndiff(wanted, found) if line[:1] in "-+"]
    return "\n".join([heading, *changes])


def _visible(line: str) -> str:
    return line.replace("\t", "→").replace(" ", "·")


def _nearest_window(lines: list[str], wanted: list[str]) -> int | None:
    """Where as many lines as `wanted` are most similar to it; None if nothing is."""
    deadline = time.monotonic() + _NEAREST_S
    bare = [line.strip() for line in wanted]
    known = {line for line in bare if line}
    anchor = max(range(len(bare)), key=lambda at: len(bare[at]))
    matcher = difflib.SequenceMatcher(None, b=bare[anchor][:500], autojunk=False)
    scores: list[tuple[float, int]] = []
    hits = [line.strip() in known for line in lines]
    in_window = sum(hits[: len(wanted)])
    for start in range(max(1, len(lines) - len(wanted) + 1)):
        matcher.set_seq1(lines[start + anchor].strip()[:500] if start + anchor < len(lines) else "")
        scores.append((in_window + matcher.quick_ratio(), start))
        if start + len(wanted) < len(lines):
            in_window += hits[start + len(wanted)] - hits[start]
        if time.monotonic() > deadline:
            break
    best, best_ratio = None, _SIMILAR_ENOUGH
    whole = "\n".join(wanted)[:4_000]
    for _, start in heapq.nlargest(_WINDOWS_COMPARED, scores, key=lambda score: (score[0], -score[1])):
        window = "\n".join(lines[start : start + len(wanted)])[:4_000]
        ratio = difflib.SequenceMatcher(None, window, whole, autojunk=False).ratio()
        if ratio > best_ratio:
            best, best_ratio = start, ratio
        if time.monotonic() > deadline + _NEAREST_S:
            break
    return best
