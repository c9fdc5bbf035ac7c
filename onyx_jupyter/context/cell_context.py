"""What cell mode learns of skills and of the active notebook: cells, tables in its kernel, files. No cell is run."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import os
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from onyx_jupyter.agents.offered_skills import OfferedSkills
from onyx_jupyter.cell_mode.notebook_facts import MAX_FRAMES, PYTHON, CellFact, Frame, NotebookFacts, SkillFact
from onyx_jupyter.cell_mode.tables import SUFFIXES, frame_of, named_file
from onyx_jupyter.context.kernel_facts import TIMEOUT_S, kernel_facts, missing_common_packages
from onyx_jupyter.errors import OnyxError, PathNotAllowed
from onyx_jupyter.notebook.outputs import render_outputs
from onyx_jupyter.protocols import Kernels, Notebooks, NotebookView
from onyx_jupyter.security.credential_files import holds_credentials
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.sessions.entry import Entry

MAX_BYTES = 64_000_000
_OUTPUT_CHARS = 300
_FILES = 12


class CellContext:
    """The notebook that was active when the message was sent."""

    def __init__(
        self,
        message: Entry,
        notebooks: Notebooks,
        kernels: Kernels | None,
        paths: PathGuard,
        skills: Sequence[SkillFact] = (),
        templates: Path | None = None,
    ) -> None:
        """`templates` is the folder from which the memory's first files were copied."""
        self._path = active_notebook_of(message)
        self._folder = folder_of(message)
        self._skills = tuple(skills)
        self._templates = templates
        self._notebooks = notebooks
        self._kernels = kernels
        self._paths = paths

    async def facts(self, request: str, made: str | None = None) -> NotebookFacts:
        """The current facts. What cannot be read is left out: the model then knows less, and says so or asks."""
        front = self._path or made
        if front is not None:
            found = await self._notebook(front, request)
        else:
            found = await asyncio.to_thread(self._without_notebook, request)
        lines = await asyncio.to_thread(_lines_of, self._templates) if self._templates else frozenset()
        return replace(found, skills=self._skills, boilerplate=lines)

    async def _notebook(self, front: str, request: str) -> NotebookFacts:
        try:
            path = self._paths.api_path(front)
            async with asyncio.timeout(TIMEOUT_S):
                view = await self._notebooks.read(path)
        except (OnyxError, TimeoutError):
            return NotebookFacts()
        language = await self._language(path, view.kernel_name)
        frames, others = await kernel_facts(self._kernels, path, request) if self._kernels else ((), ())
        files, table = await asyncio.to_thread(self._files, path, request, not frames)
        if language != PYTHON:  # the model has to know how that language reads a table
            table = tuple(replace(one, name=one.file, read="") for one in table)
        lacking = (
            await missing_common_packages(self._kernels, path) if self._kernels and language == PYTHON else frozenset()
        )
        return NotebookFacts(path, language, _cells(view), (*table, *frames)[:MAX_FRAMES], others, files, lacking)

    def _without_notebook(self, request: str) -> NotebookFacts:
        """The facts for a new notebook, which would go beside the files that the person sees."""
        if self._folder is None:
            return NotebookFacts()
        try:
            folder = self._paths.api_path(self._folder)
            with self._paths.folder(self._paths.resolve(folder or ".")) as opened:
                taken = {entry.name.lower() for entry in opened.entries()}
        except (OnyxError, OSError):
            return NotebookFacts()
        numbered = (f"Untitled{number or ''}.ipynb" for number in itertools.count())
        new_path = posixpath.normpath(f"{folder}/{next(name for name in numbered if name.lower() not in taken)}")
        files, table = self._files(new_path, request, alone=True)
        return NotebookFacts(frames=table, files=files, new_path=new_path)

    async def _language(self, path: str, kernel_name: str | None) -> str:
        """The kernel's language, or the kernel's name if that is unknown."""
        with contextlib.suppress(OnyxError, TimeoutError):
            if self._kernels is not None:
                async with asyncio.timeout(TIMEOUT_S):
                    return await self._kernels.language(path, kernel_name)
        return PYTHON if (kernel_name or PYTHON).startswith(PYTHON) else str(kernel_name)

    def _files(self, path: str, request: str, alone: bool) -> tuple[tuple[str, ...], tuple[Frame, ...]]:
        """The table files beside the notebook, and the table that the request is about."""
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
            if os.fstat(descriptor).st_size > MAX_BYTES:
                raise ValueError(f"{path!r} is too large to look into.")
            return frame_of(file.read(MAX_BYTES), name)


@functools.cache
def _lines_of(folder: Path) -> frozenset[str]:
    """The lines of the folder's Markdown files, skipping those that cannot be read."""
    lines: set[str] = set()
    for file in folder.rglob("*.md"):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            lines.update(line.strip() for line in file.read_text("utf-8").splitlines() if line.strip())
    return frozenset(lines)


def skill_facts(offered: OfferedSkills) -> list[SkillFact]:
    """The skills of a run with their parameters; an untrusted one without its description."""
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
    """Each parameter's JSON type; string if there are several or none."""
    properties = schema.get("properties", {})
    return {name: str(about.get("type", "string")) for name, about in properties.items()}


def active_notebook_of(message: Entry) -> str | None:
    """The sender's active notebook; None for a question from a cell, whose kernel waits for the answer."""
    notebooks = message.meta.get("notebooks")
    front = notebooks.get("front") if isinstance(notebooks, dict) else None
    return front if isinstance(front, str) and message.origin.kernel is None else None


def folder_of(message: Entry) -> str | None:
    """The folder in the sender's file browser, for a notebook that is yet to be created.

    None if no one could see it: a cell asked, whose kernel waits, or another session did, or there is no tab.
    """
    notebooks = message.meta.get("notebooks")
    folder = notebooks.get("folder") if isinstance(notebooks, dict) else None
    return (
        folder if isinstance(folder, str) and message.origin.kernel is None and message.origin.session is None else None
    )


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
