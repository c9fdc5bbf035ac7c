"""What is known about the notebook in front of the user."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from onyx_jupyter.cell_mode.fixes.imports import bound_names

PYTHON = "python"
MAX_FRAMES = 3
_LIKE_A_COLUMN = re.compile(r"""(?P<quote>["'])([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+)(?P=quote)""")


@dataclass(frozen=True, slots=True)
class Column:
    """`dtype` as in pandas; `about` are examples or statistics, in words."""

    name: str
    dtype: str
    about: str = ""
    missing: int = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """A table: a variable of the kernel, or a file that `read` would read into that variable.

    `rows` is None if they were not counted; `index` describes the row labels, if they are not just numbers.
    """

    name: str
    columns: tuple[Column, ...]
    rows: int | None = None
    read: str = ""
    file: str = ""
    index: str = ""


@dataclass(frozen=True, slots=True)
class CellFact:
    """One cell; `output` is the beginning of its output text, `has_run` whether this kernel ran it."""

    id: str
    number: int
    type: str
    source: str
    output: str = ""
    has_run: bool = False


@dataclass(frozen=True, slots=True)
class SkillFact:
    """A usable skill: `tool` runs it with `parameters` (name → JSON type); without a tool it only instructs."""

    name: str
    description: str = ""
    tool: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NotebookFacts:
    """`path` None: no notebook is in front. `variables` are the kernel's others, a line each; `files` lie beside it.

    `language` is the kernel's language, in lower case; `lacking` are packages known not to be installed. `skills` are
    the agent's, for any notebook; `boilerplate` are the initial lines of its memory, which say nothing about anyone.
    `new_path` is where a notebook can be created, if there is none.
    """

    path: str | None = None
    language: str = PYTHON
    cells: tuple[CellFact, ...] = ()
    frames: tuple[Frame, ...] = ()
    variables: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    lacking: frozenset[str] = frozenset()
    skills: tuple[SkillFact, ...] = ()
    boilerplate: frozenset[str] = frozenset()
    new_path: str | None = None

    @property
    def unrun(self) -> tuple[CellFact, ...]:
        """The code cells, if none of them has run: a notebook that was only opened."""
        code = tuple(cell for cell in self.cells if cell.type == "code" and cell.source.strip())
        return () if any(cell.has_run for cell in code) else code

    def names(self) -> set[str]:
        """The names of the data: tables, files and columns, in lower case.

        For a notebook that was only opened, guesses them: quoted names in its code that look like columns.
        """
        columns = {column.name for frame in self.frames for column in frame.columns}
        frames = {name for frame in self.frames for name in (frame.name, frame.file)}
        quoted = {name for cell in self.unrun for _, name in _LIKE_A_COLUMN.findall(cell.source)}
        return {name.strip().lower() for name in columns | frames | quoted if len(name.strip()) > 1}

    def known_names(self) -> set[str]:
        """The names that a new cell can use: variables of the kernel, and those defined by cells that ran."""
        variables = {line.partition(" ")[0].rstrip(":") for line in self.variables}
        ran = [cell.source for cell in self.cells if cell.has_run and cell.type == "code"]
        made = {name for source in ran for name in bound_names(source)}
        return variables | made | {frame.name for frame in self.frames}
