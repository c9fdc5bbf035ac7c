"""What cell mode is told of skills and of the notebook in front: cells, tables in its kernel, files. It runs none."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from onyx_jupyter.cell_mode.facts import MAX_FRAMES, PYTHON, CellFact, Column, Frame, NotebookFacts, SkillFact
from onyx_jupyter.cell_mode.tables import SUFFIXES, frame_of, named_file
from onyx_jupyter.errors import OnyxError, PathNotAllowed
from onyx_jupyter.notebook.outputs import render_outputs
from onyx_jupyter.protocols import Inspection, Kernels, Notebooks, NotebookView, Variable
from onyx_jupyter.runtime.skills import Offered
from onyx_jupyter.security.credential_files import holds_credentials
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.tools.builtin.kernel_text import variable_line

MOST_BYTES = 64_000_000
_OUTPUT_CHARS = 300
_OTHER_VARIABLES = 12
_VARIABLE_CHARS = 160
_FILES = 12
_PATIENCE_S = 5.0
_NOT_TOLD = ("function", "class", "module")


class CellSurroundings:
    """The notebook that was in front when the message was sent."""

    def __init__(
        self,
        message: Entry,
        notebooks: Notebooks,
        kernels: Kernels | None,
        paths: PathGuard,
        skills: Sequence[SkillFact] = (),
        templates: Path | None = None,
    ) -> None:
        """`templates` is the folder that the memory's first files came from."""
        self._path = front_of(message)
        self._skills = tuple(skills)
        self._templates = templates
        self._notebooks = notebooks
        self._kernels = kernels
        self._paths = paths

    async def facts(self, request: str) -> NotebookFacts:
        """As it is now. What cannot be read is left out: the model then knows less, and says or asks so."""
        found = await self._notebook(self._path, request) if self._path is not None else NotebookFacts()
        lines = await asyncio.to_thread(_lines_of, self._templates) if self._templates else frozenset()
        return replace(found, skills=self._skills, boilerplate=lines)

    async def _notebook(self, front: str, request: str) -> NotebookFacts:
        try:
            path = self._paths.api_path(front)
            async with asyncio.timeout(_PATIENCE_S):
                view = await self._notebooks.read(path)
        except (OnyxError, TimeoutError):
            return NotebookFacts()
        language = await self._language(path, view.kernel_name)
        frames, others = await self._in_kernel(path, request)
        files, table = await asyncio.to_thread(self._files, path, request, not frames)
        if language != PYTHON:  # how it reads a table is the model's to know
            table = tuple(replace(one, name=one.file, read="") for one in table)
        return NotebookFacts(path, language, _cells(view), (*table, *frames)[:MAX_FRAMES], others, files)

    async def _language(self, path: str, kernel_name: str | None) -> str:
        """Its name, where nobody knows what a kernel speaks."""
        with contextlib.suppress(OnyxError, TimeoutError):
            if self._kernels is not None:
                async with asyncio.timeout(_PATIENCE_S):
                    return await self._kernels.language(path, kernel_name)
        return PYTHON if (kernel_name or PYTHON).startswith(PYTHON) else str(kernel_name)

    async def _in_kernel(self, path: str, request: str) -> tuple[tuple[Frame, ...], tuple[str, ...]]:
        if self._kernels is None:
            return (), ()
        try:
            async with asyncio.timeout(_PATIENCE_S):
                found = (await self._kernels.variables(path)).variables
                wanted = _first_named([one for one in found if one.kind == "frame"], request)[:MAX_FRAMES]
                frames = [_frame(one, await self._kernels.inspect(path, one.name)) for one in wanted]
        except (OnyxError, TimeoutError):
            return (), ()
        told = {frame.name for frame in frames}
        others = [one for one in found if one.name not in told and one.kind not in _NOT_TOLD]
        return tuple(frames), tuple(variable_line(one)[:_VARIABLE_CHARS] for one in others[:_OTHER_VARIABLES])

    def _files(self, path: str, request: str, alone: bool) -> tuple[tuple[str, ...], tuple[Frame, ...]]:
        """The tables beside the notebook, and the one that the request is about."""
        try:
            folder = self._paths.resolve(posixpath.dirname(path) or ".")
            with self._paths.folder(folder) as opened:
                names = sorted(entry.name for entry in opened.entries() if Path(entry.name).suffix.lower() in SUFFIXES)
        except (OnyxError, OSError):
            return (), ()
        name = named_file(request, names, alone=alone)
        try:
            table = (self._table(posixpath.join(posixpath.dirname(path), name), name),) if name else ()
        except (OnyxError, OSError, ValueError):
            table = ()
        return tuple(names[:_FILES]), table

    def _table(self, path: str, name: str) -> Frame:
        """Raises: PathNotAllowed, also for credentials behind a link; OSError, ValueError."""
        real = self._paths.resolve(path)
        if holds_credentials(path, real):
            raise PathNotAllowed(f"{path!r} holds credentials.")
        with self._paths.file(real) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
            if os.fstat(descriptor).st_size > MOST_BYTES:
                raise ValueError(f"{path!r} is too large to look into.")
            return frame_of(file.read(MOST_BYTES), name)


@functools.cache
def _lines_of(folder: Path) -> frozenset[str]:
    """Of its Markdown files; none of one that cannot be read."""
    lines: set[str] = set()
    for file in folder.rglob("*.md"):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            lines.update(line.strip() for line in file.read_text("utf-8").splitlines() if line.strip())
    return frozenset(lines)


def skill_facts(offered: Offered) -> list[SkillFact]:
    """The skills of a run with their parameters; nothing of what an untrusted one says of itself."""
    schemas = {tool.name: tool.definition().parameters for tool in offered.tools}
    return [
        SkillFact(
            line.name,
            line.description if line.trusted else "",
            line.tool,
            _types(schemas.get(line.tool or "", {})),
        )
        for line in offered.lines
    ]


def _types(schema: Mapping[str, Any]) -> dict[str, str]:
    """Each parameter's JSON type; of several, or none, text."""
    properties = schema.get("properties", {})
    return {name: str(about.get("type", "string")) for name, about in properties.items()}


def front_of(message: Entry) -> str | None:
    """The notebook in front of the person who sent it; None for a question from a cell, whose kernel waits for it."""
    notebooks = message.meta.get("notebooks")
    front = notebooks.get("front") if isinstance(notebooks, dict) else None
    return front if isinstance(front, str) and message.kernel is None else None


def _cells(view: NotebookView) -> tuple[CellFact, ...]:
    return tuple(
        CellFact(
            cell.id,
            number,
            cell.cell_type,
            cell.source,
            render_outputs(cell.outputs, _OUTPUT_CHARS).text,
            cell.execution_count is not None,
        )
        for number, cell in enumerate(view.cells, 1)
    )


def _first_named(frames: Sequence[Variable], request: str) -> list[Variable]:
    return sorted(frames, key=lambda one: one.name.lower() not in request.lower())


def _frame(variable: Variable, found: Inspection) -> Frame:
    schema = next((table for table in found.tables if table.title == "columns"), None)
    rows = variable.summary.partition(" × ")[0].replace(",", "")
    columns = [Column(row[0], row[1], _about(row)) for row in schema.rows] if schema else []
    return Frame(variable.name, tuple(columns), int(rows) if rows.isdigit() else None)


def _about(row: Sequence[str]) -> str:
    nulls, statistics = row[2], row[3]
    missing = f"{nulls} missing" if nulls and nulls not in ("0", "none") else ""
    return ", ".join(part for part in (statistics, missing) if part)
