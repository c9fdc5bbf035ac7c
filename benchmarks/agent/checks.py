"""Conditions for an answer and its cells to be right about a frame. It computes no expected values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.agent.pictures import Picture, pictures_of
from benchmarks.agent.scoring import shows_number
from benchmarks.agent.task import Task, Turn, Verdict

Check = Callable[[Turn], str]
"""What a turn lacks, in a few words; empty if nothing."""
Truth = Callable[[], Iterable[float]]
"""The expected numbers, computed on demand."""


def task(identity: str, notebook: Path, *messages: str, check: Check) -> Task:
    """A conversation about a notebook whose last answer is judged."""
    return Task(identity, notebook.stem, messages, lambda turns: _judged(turns, len(messages), check), (), notebook)


def _judged(turns: Sequence[Turn], asked: int, check: Check) -> Verdict:
    """It is computed where the check is content once all that code put out counts as said, and as shown in a cell."""
    last = turns[-1]
    if last.error or len(turns) < asked:
        return Verdict(right=False, computed=False, missing="an answer")
    missing = check(last)
    texts = [*last.outputs, *last.cell_outputs]
    shown = {"output_type": "stream", "text": "\n".join(texts)}
    cells = [*last.cells, {"id": "all", "cell_type": "raw", "source": "", "outputs": [shown]}]
    told = replace(last, answer="\n".join(texts), cells=cells, touched=last.touched | {"all"})
    return Verdict(right=not missing, computed=bool(texts) and not check(told), missing=missing and f"wanted {missing}")


def says(*patterns: str, never: str = "") -> Check:
    """The answer has each of these words (regular expressions, any case), and none of `never`."""

    def check(turn: Turn) -> str:
        lacking = [pattern for pattern in patterns if not re.search(pattern, turn.answer, re.IGNORECASE)]
        wrong = re.search(never, turn.answer, re.IGNORECASE) if never else None
        return f"no {wrong[0]!r}" if wrong else ", ".join(lacking)

    return check


def says_numbers(truth: Truth, *, share: bool = False) -> Check:
    """The answer states each of them."""
    return lambda turn: _lacking(turn.answer, truth(), share)


def shows_numbers(truth: Truth, *, share: bool = False) -> Check:
    """The output of a new or changed cell shows each of them."""

    def check(turn: Turn) -> str:
        if lacking := _lacking("\n".join(turn.cell_outputs), truth(), share):
            return f"a cell that shows {lacking}"
        return ""

    return check


def says_or_shows(truth: Truth, *, share: bool = False) -> Check:
    """The answer or a cell has each of them: the question does not say where."""
    return lambda turn: _lacking("\n".join([turn.answer, *turn.cell_outputs]), truth(), share)


def shows_in_order(names: Callable[[], Sequence[str]]) -> Check:
    """A cell shows these words in this order."""

    def check(turn: Turn) -> str:
        wanted = names()
        pattern = re.compile(".*".join(map(re.escape, wanted)), re.DOTALL | re.IGNORECASE)
        return "" if any(map(pattern.search, turn.cell_outputs)) else f"a cell with {', '.join(wanted)} in this order"

    return check


def adds_no_cell(before: int) -> Check:
    """The notebook has at most this many cells."""
    return lambda turn: "" if len(turn.cells) <= before else f"no more than {before} cells"


def draws(*labels: str, heights: Truth = tuple, names: Sequence[str] = (), points: int = 0, colours: int = 0) -> Check:
    """A cell shows a picture of which the axes or the title have these words, the bars or lines these heights.

    `names` are words at ticks or in a legend. Heights may be shares or percentages.
    """

    def check(turn: Turn) -> str:
        if not any(_has_picture(cell) for cell in turn.cells if cell["id"] in turn.touched):
            return "a picture below a cell"
        found = pictures_of(turn.cells, turn.touched)
        lacking = [_lacks(picture, labels, list(heights()), names, points, colours) for picture in found]
        return min(lacking, key=len, default="a picture that can be drawn again")

    return check


def calls(tool: str) -> Check:
    """This tool was called successfully."""
    return lambda turn: "" if tool in turn.tools else f"a call of {tool}"


def has_file(name: str, *patterns: str) -> Check:
    """There is such a file beside the notebook afterwards, and it has each of these (regular expressions, any case)."""

    def check(turn: Turn) -> str:
        if name not in turn.files:
            return f"a file {name}"
        lacking = [one for one in patterns if not re.search(one, turn.files[name], re.IGNORECASE)]
        return f"in {name}: {', '.join(lacking)}" if lacking else ""

    return check


def has_not_noted(pattern: str) -> Check:
    """No memory file contains it (any more)."""
    return lambda turn: f"no {pattern!r} in the notes" if re.search(pattern, turn.notes, re.IGNORECASE) else ""


def all_of(*checks: Check) -> Check:
    """Each of them."""
    return lambda turn: ", ".join(filter(None, (check(turn) for check in checks)))


def _lacking(text: str, wanted: Iterable[float], share: bool) -> str:
    return ", ".join(f"{number:.4g}" for number in wanted if not shows_number(text, number, share=share))


def _has_picture(cell: object) -> bool:
    outputs = cell.get("outputs", ()) if isinstance(cell, dict) else ()
    return any(kind.startswith("image/") for output in outputs for kind in output.get("data", {}))


def _lacks(
    picture: Picture, labels: Sequence[str], heights: Sequence[float], names: Sequence[str], points: int, colours: int
) -> str:
    said, named = " ".join(picture.labels), " ".join([*picture.names, *picture.labels])
    lacking = [f"a label with {label}" for label in labels if not re.search(label, said, re.IGNORECASE)]
    lacking += [f"the name {name}" for name in names if not re.search(name, named, re.IGNORECASE)]
    drawn = " ".join(f"{height:.6f}" for height in picture.heights)
    if low := _lacking(drawn, heights, share=True):
        lacking.append(f"heights {low}")
    if picture.points < points:
        lacking.append(f"{points} points")
    if picture.colours < colours:
        lacking.append(f"{colours} colours")
    return ", ".join(lacking)
