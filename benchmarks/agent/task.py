"""The terms of this benchmark: tasks, outcomes, judgements. Nothing is run here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

NbCell = Mapping[str, Any]
# From the question to the end of the answer, over all turns of a task.
TIME_LIMIT_S = 480.0
MAX_MODEL_CALLS = 15


@dataclass(frozen=True, slots=True)
class Turn:
    """What one message led to.

    `outputs` are the texts that code put out on the way, in cells or not; `cells` the notebook's afterwards, of which
    `touched` (ids) are new or have changed or run; `files` are the texts beside it afterwards, by name, and `notes` is
    all that the memory holds. `error` is empty where an answer came.
    """

    message: str
    answer: str = ""
    outputs: Sequence[str] = ()
    tools: Sequence[str] = ()
    cells: Sequence[NbCell] = ()
    touched: frozenset[str] = frozenset()
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    error: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    notes: str = ""

    @property
    def cell_outputs(self) -> list[str]:
        """The text outputs of the touched cells."""
        return [text for cell in self.cells if cell.get("id") in self.touched for text in output_texts(cell)]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`solved` is None where no form was asked for; `missing` says in a line what a wrong answer lacks."""

    right: bool
    computed: bool
    solved: bool | None = None
    missing: str = ""


@dataclass(frozen=True)
class Task:
    """Messages to be sent one after the other, beside `files`; without a `notebook` an empty one is in front."""

    id: str
    level: str
    messages: Sequence[str]
    judge: Callable[[Sequence[Turn]], Verdict] = field(repr=False)
    files: Sequence[Path] = ()
    notebook: Path | None = None


class System(Protocol):
    """A system under test; `kept` is a folder for records of how it got its answer."""

    def run(self, task: Task, kept: Path) -> list[Turn]:
        """One turn per message; those after a turn with an error are left out."""
        ...


def output_texts(cell: NbCell) -> list[str]:
    """The text that a cell shows; an image or an error shows none."""
    return [text for output in cell.get("outputs", ()) if (text := _text(output))]


def touched_cells(before: Sequence[NbCell], after: Sequence[NbCell]) -> frozenset[str]:
    """The ids of new or changed cells."""
    known = {cell["id"]: cell for cell in before}
    return frozenset(cell["id"] for cell in after if known.get(cell["id"]) != cell)


def _text(output: Mapping[str, Any]) -> str:
    data = output.get("data", {})
    text = output.get("text") or data.get("text/plain") or data.get("text/markdown") or ""
    return text if isinstance(text, str) else "".join(text)
