"""What a model is told of the notebook in front of the person, in few words. It reads no notebook itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from onyx_jupyter.cell_mode.imports import bound_names
from onyx_jupyter.cell_mode.named_columns import named_columns

PYTHON = "python"
MAX_COLUMNS = 40
MAX_FRAMES = 3
_FEW_COLUMNS = 6
_TOLD_COLUMNS = 10
_CELL_CHARS = 900
_CODE_CELL_CHARS = 500
_OUTLINE_CHARS = 6_000
_CODE_CHARS = 1_500
_OUTPUT_CHARS = 200


@dataclass(frozen=True, slots=True)
class Column:
    """`dtype` as pandas says it; `about` are examples or statistics, in words."""

    name: str
    dtype: str
    about: str = ""
    missing: int = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """A table: a variable of the kernel, or a file that `read` would read into that variable.

    `rows` is None where they were not counted.
    """

    name: str
    columns: tuple[Column, ...]
    rows: int | None = None
    read: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class CellFact:
    """One cell; `output` is how its text begins, `has_run` whether this kernel ran it."""

    id: str
    number: int
    type: str
    source: str
    output: str = ""
    has_run: bool = False


@dataclass(frozen=True, slots=True)
class SkillFact:
    """A skill that may be used: `tool` runs it with `parameters` (name → JSON type); without one it instructs."""

    name: str
    description: str = ""
    tool: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NotebookFacts:
    """`path` None: no notebook is in front. `variables` are the kernel's others, a line each; `files` lie beside it.

    `language` is what its kernel speaks, in lower case. `skills` are the agent's, whatever notebook it is;
    `boilerplate` are the lines that its memory came with, which say nothing of anybody. `new_path` is where a notebook
    can be made, if none is there.
    """

    path: str | None = None
    language: str = PYTHON
    cells: tuple[CellFact, ...] = ()
    frames: tuple[Frame, ...] = ()
    variables: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    skills: tuple[SkillFact, ...] = ()
    boilerplate: frozenset[str] = frozenset()
    new_path: str | None = None

    @property
    def unrun(self) -> tuple[CellFact, ...]:
        """The code cells that stand there and have not run, where none has: a notebook that was only opened."""
        code = tuple(cell for cell in self.cells if cell.type == "code" and cell.source.strip())
        return () if any(cell.has_run for cell in code) else code

    def names(self) -> set[str]:
        """What the data is called: tables, files and columns, in lower case."""
        columns = {column.name for frame in self.frames for column in frame.columns}
        frames = {name for frame in self.frames for name in (frame.name, frame.file)}
        return {name.strip().lower() for name in columns | frames if len(name.strip()) > 1}

    def known_names(self) -> set[str]:
        """What a new cell may use without making it: variables of the kernel, and what the cells that ran have made."""
        variables = {line.partition(" ")[0].rstrip(":") for line in self.variables}
        ran = [cell.source for cell in self.cells if cell.has_run and cell.type == "code"]
        made = {name for source in ran for name in bound_names(source)}
        return variables | made | {frame.name for frame in self.frames}


def for_code(facts: NotebookFacts, about: str = "") -> str:
    """What a cell is written from: the tables with their columns, other variables, and the code that is there.

    Of a table with many columns, those that `about` speaks of are described and the others only named.
    """
    parts = [_frame(frame, about) for frame in facts.frames]
    if facts.variables:
        parts.append("Other variables of the kernel:\n" + "\n".join(f"- {line}" for line in facts.variables))
    if facts.files and not facts.frames:
        parts.append("Files beside the notebook: " + ", ".join(facts.files))
    code = [cell for cell in facts.cells if cell.type == "code" and cell.source.strip()]
    if code:
        title = "Cells that have run:" if any(cell.has_run for cell in code) else "Cells of the notebook, not run yet:"
        parts.append("\n".join([title, *_sources(code, facts.language)]))
    return "\n\n".join(parts) or "The notebook is empty: no table is loaded and no file lies beside it."


def for_words(facts: NotebookFacts) -> str:
    """What a question about the notebook is answered from: its cells in order with their outputs, and its tables."""
    if facts.path is None:
        return ""
    lines, left = [f"The notebook {facts.path.rpartition('/')[2]}:"], _OUTLINE_CHARS
    for cell in facts.cells:
        text = _cut(cell.source.strip(), _CELL_CHARS)
        kind = "code" if cell.type == "code" else "text"
        output = f"\nOutput: {_cut(cell.output, _OUTPUT_CHARS)}" if cell.output else ""
        entry = f"[cell {cell.number}, {kind}]\n{text}{output}"
        left -= len(entry)
        if left < 0:
            lines.append(f"[{len(facts.cells) - cell.number + 1} more cells]")
            break
        lines.append(entry)
    return "\n".join([*lines, *(_short_frame(frame) for frame in facts.frames)])


def _frame(frame: Frame, about: str) -> str:
    rows = f", {frame.rows:,} rows" if frame.rows is not None else ""
    how = ", read by the first lines of the cell" if frame.read else ""
    lines = [f"`{frame.name}` is the table{f' of {frame.file}' if frame.file else ''}{rows}{how}. Its columns:"]
    named = named_columns((column.name for column in frame.columns), about)[:_TOLD_COLUMNS]
    is_chosen = bool(named) and len(frame.columns) > _FEW_COLUMNS
    told = [column for column in frame.columns if not is_chosen or column.name in named][:MAX_COLUMNS]
    others = [column for column in frame.columns if column not in told]
    for column in told:
        description = f", {column.about}" if column.about else ""
        missing = f", {column.missing:,} missing" if column.missing else ""
        lines.append(f"- {column.name!r}: {column.dtype}{description}{missing}")
    if others:
        left = len(others) - MAX_COLUMNS
        names = ", ".join(repr(column.name) for column in others[:MAX_COLUMNS])
        lines.append(f"- others: {names}{f' and {left} more' if left > 0 else ''}")
    return "\n".join(lines)


def _short_frame(frame: Frame) -> str:
    rows = f" with {frame.rows:,} rows" if frame.rows is not None else ""
    return f"`{frame.name}` is a table{rows}: {', '.join(column.name for column in frame.columns[:MAX_COLUMNS])}"


def _sources(cells: Sequence[CellFact], language: str) -> list[str]:
    """The last ones, as many as there is room for: what a new cell goes on from."""
    kept: list[str] = []
    left = _CODE_CHARS
    for cell in reversed(cells):
        text = f"```{language}\n{_cut(cell.source.strip(), _CODE_CELL_CHARS)}\n```"
        left -= len(text)
        if left < 0 and kept:
            break
        kept.insert(0, text)
    return kept


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit].rstrip()} …"
