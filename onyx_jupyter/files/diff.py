"""The change from one text to another as a unified diff, in bounded time. It shows every changed line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

_CONTEXT = 3
# difflib takes the product of both lengths at worst: beyond this, the whole middle is shown as replaced.
_COMPARED_PRODUCT = 4_000_000


def unified_diff(old: str, new: str) -> str:
    """Hunks with three lines of context around each change; empty if nothing changes.

    Uniform line ends are not compared; if a text mixes them, each line shows its own.
    """
    exact = _is_mixed(old) or _is_mixed(new)
    before, after = _lines(old, exact), _lines(new, exact)
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    middle = (len(before) - head - tail, len(after) - head - tail)
    if middle == (0, 0):
        return _end_note(old, new)
    start, stop = max(0, head - _CONTEXT), max(0, tail - _CONTEXT)
    before, after = before[start : len(before) - stop], after[start : len(after) - stop]
    around = (head - start, tail - stop)
    groups = (
        [_one_block(before, after, around)] if middle[0] * middle[1] > _COMPARED_PRODUCT else _groups(before, after)
    )
    lines = [line for group in groups for line in _hunk(group, before, after, start)]
    return "\n".join([*lines, *([note] if (note := _end_note(old, new)) else [])])


def _is_mixed(text: str) -> bool:
    return 0 < text.count("\r\n") < text.count("\n")


def _lines(text: str, exact: bool) -> list[str]:
    """Splits at newlines only: `splitlines` also splits at other characters, which would be an invisible change."""
    lines = (text if exact else text.replace("\r\n", "\n")).split("\n")
    return lines[:-1] if not lines[-1] else lines


Codes = list[tuple[str, int, int, int, int]]


def _groups(before: list[str], after: list[str]) -> Iterator[Codes]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return (list(group) for group in matcher.get_grouped_opcodes(_CONTEXT))


def _one_block(before: list[str], after: list[str], around: tuple[int, int]) -> Codes:
    head, tail = around
    old_end, new_end = len(before) - tail, len(after) - tail
    return [
        ("equal", 0, head, 0, head),
        ("replace", head, old_end, head, new_end),
        ("equal", old_end, len(before), new_end, len(after)),
    ]


def _hunk(group: Codes, before: list[str], after: list[str], offset: int) -> Iterator[str]:
    (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = group[0], group[-1]
    yield f"@@ -{_range(old_start, old_end, offset)} +{_range(new_start, new_end, offset)} @@"
    for tag, old_from, old_to, new_from, new_to in group:
        if tag == "equal":
            yield from (f" {line}" for line in before[old_from:old_to])
            continue
        yield from (f"-{line}" for line in before[old_from:old_to])
        yield from (f"+{line}" for line in after[new_from:new_to])


def _range(start: int, end: int, offset: int) -> str:
    length = end - start
    first = start + offset + (1 if length else 0)
    return f"{first}" if length == 1 else f"{first},{length}"


def _common(left: list[str], right: list[str]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _end_note(old: str, new: str) -> str:
    """A change that the lines alone do not show."""
    had, has = old.endswith("\n"), new.endswith("\n")
    if new and not old and not has:
        return "\\ The last line has no line end."
    if had == has or not old or not new:
        return ""
    return "\\ The last line gets a line end." if has else "\\ The last line loses its line end."
