"""A short description of the notebook in front of the user, for a model."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from onyx_jupyter.cell_mode.fixes.imports import bound_names
from onyx_jupyter.cell_mode.named_columns import named_columns
from onyx_jupyter.cell_mode.notebook_facts import PYTHON, CellFact, Frame, NotebookFacts

_FEW_COLUMNS = 6
_MAX_COLUMNS = 10
_TEXT_CHARS = 500
_OUTLINE_CODE_CHARS = 240
_CODE_CELL_CHARS = 500
_OUTLINE_CHARS = 6_000
_CODE_CHARS = 1_500
_OUTPUT_CHARS = 120
MAX_COLUMNS = 40
# The line below a Markdown table's head, which takes a third of a small table's tokens.
_RULER = re.compile(r"^\|(?: ?:?-+:? ?\|)+\n", re.MULTILINE)
_CELL_NUMBER = re.compile(r"\bcell (\d{1,4})\b", re.IGNORECASE)
# Words that refer to existing code.
_CODE_REFERENCE = re.compile(
    r"\b(?:the|this|that|my|these|last|previous|above) (?:\w+ )?"
    r"(?:cells?|code|plots?|charts?|figures?|graphs?|histograms?|function|model|loop|error|output)\b|\bcell \d+",
    re.IGNORECASE,
)


def for_code(facts: NotebookFacts, about: str = "", *, request: str = "", shown: Collection[str] = ()) -> str:
    """What a cell is written from: the tables with their columns, other variables, and the code referred to.

    If a table has many columns, only those that `about` mentions are described, and the others just named; only the
    `request` itself can refer to code. `shown` are sources that the model sees elsewhere.
    """
    parts = [_frame(frame, about) for frame in reversed(facts.frames)]
    if facts.variables:
        parts.insert(0, "Variables of the kernel:\n" + "\n".join(f"- {line}" for line in facts.variables))
    if facts.files and not facts.frames:
        parts.append("Files beside the notebook: " + ", ".join(facts.files))
    if facts.frames and not any(frame.file for frame in facts.frames):
        parts.append("All of that is in the kernel already: load no file.")
    if code := _relevant_code(facts, about, request, shown):
        title = "Cells that have run:" if any(cell.has_run for cell in code) else "Cells of the notebook, not run yet:"
        parts.append("\n".join([title, *_sources(code, facts.language)]))
    return "\n\n".join(parts) or "The notebook is empty: no table is loaded and no file lies beside it."


def cells_named(facts: NotebookFacts, request: str) -> list[CellFact]:
    """The cells that a request names by number, as in "explain cell 5"."""
    numbers = {int(number) for number in _CELL_NUMBER.findall(request)}
    return [cell for cell in facts.cells if cell.number in numbers]


def for_words(facts: NotebookFacts, request: str = "") -> str:
    """What a question about the notebook is answered from: its cells in order with their outputs, and its tables.

    If the `request` names cells, only these are included, with more of their code.
    """
    if facts.path is None:
        return ""
    named = cells_named(facts, request)
    most = _CODE_CHARS if named else _OUTLINE_CODE_CHARS
    lines, left = [f"The notebook {facts.path.rpartition('/')[2]}:"], _OUTLINE_CHARS
    for cell in named or facts.cells:
        text = _cut(cell.source.strip(), most if cell.type == "code" else _TEXT_CHARS)
        kind = "code" if cell.type == "code" else "text"
        output = f"\nOutput: {_cut(_RULER.sub('', cell.output), _OUTPUT_CHARS)}" if cell.output else ""
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
    named = named_columns((column.name for column in frame.columns), about)[:_MAX_COLUMNS]
    is_chosen = bool(named) and len(frame.columns) > _FEW_COLUMNS
    told = [column for column in frame.columns if not is_chosen or column.name in named][:MAX_COLUMNS]
    others = [column for column in frame.columns if column not in told]
    for column in told:
        description = f", {column.about}" if column.about else ""
        missing = f", {column.missing:,} missing" if column.missing else ""
        lines.append(f"- {column.name!r}: {column.dtype}{description}{missing}")
    if frame.index:
        lines.append(f"- its index, no column: {frame.index}")
    if others:
        left = len(others) - MAX_COLUMNS
        names = ", ".join(repr(column.name) for column in others[:MAX_COLUMNS])
        lines.append(f"- others: {names}{f' and {left} more' if left > 0 else ''}")
    return "\n".join(lines)


def _short_frame(frame: Frame) -> str:
    rows = f" with {frame.rows:,} rows" if frame.rows is not None else ""
    return f"`{frame.name}` is a table{rows}: {', '.join(column.name for column in frame.columns[:MAX_COLUMNS])}"


def _relevant_code(facts: NotebookFacts, about: str, request: str, shown: Collection[str]) -> list[CellFact]:
    """The code that a new cell needs to see, since it is not described here. Other code would only be copied."""
    code = [cell for cell in facts.cells if cell.type == "code" and cell.source.strip() and cell.source not in shown]
    if facts.language != PYTHON or not facts.frames or _CODE_REFERENCE.search(request):
        return code
    columns = {one.name for frame in facts.frames for one in frame.columns}
    described = columns | {frame.name for frame in facts.frames}
    return [
        cell
        for cell in code
        if any(_is_mentioned(name, about) for name in bound_names(cell.source) - described if not _is_word(name))
    ]


def _is_word(name: str) -> bool:
    """Whether it may occur in a sentence by chance: `length`, but not `fit_line` or `n2`."""
    return name.isalpha() and name.islower()


def _is_mentioned(name: str, text: str) -> bool:
    """Whether the text refers to that name in the notebook: not if code in the text defines it itself."""
    word = rf"(?<!\w){re.escape(name)}(?!\w)"
    is_made = re.search(rf"^\s*{word}\s*=(?!=)(?!.*{word})", text, re.MULTILINE)
    return is_made is None and re.search(word, text) is not None


def _sources(cells: Sequence[CellFact], language: str) -> list[str]:
    """The last cells, as many as fit: a new cell continues from them."""
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
