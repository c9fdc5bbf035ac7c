"""Creates skills from the user's notebooks."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.features.skills.library import SkillLibrary
from onyx_jupyter.protocols import Notebooks, NotebookView
from onyx_jupyter.skills.authoring import skill_notebook, write_skill
from onyx_jupyter.skills.notebook_skill import PYTHON, notebook_digest, tags_of
from onyx_jupyter.skills.proposal import Proposal, SourceCell, propose
from onyx_jupyter.skills.requirements import DEFAULT_KERNEL, kernel_facts
from onyx_jupyter.skills.skill import Listed, Source, skill_id


@dataclass(frozen=True)
class SkillSource:
    """What the user wants to save; `parameters` is the source of the parameters cell."""

    path: str
    name: str
    description: str
    parameters: str
    place: Source
    overwrite: bool = False


class SkillAuthor:
    """`announce` is called when a skill was saved."""

    def __init__(self, library: SkillLibrary, notebooks: Notebooks, announce: Callable[[], None]) -> None:
        self._library = library
        self._notebooks = notebooks
        self._announce = announce

    async def propose(self, path: str) -> tuple[Proposal, Mapping[str, str], str | None]:
        """The proposal, the notebook's kernel, and why no parameters are proposed. Raises: NotebookError."""
        view = await self._notebooks.read(path)
        kernel = await asyncio.to_thread(kernel_facts, view.kernel_name or DEFAULT_KERNEL)
        stem = posixpath.basename(view.path).removesuffix(".ipynb")
        cells = [SourceCell(cell.cell_type, cell.source, tags_of({"metadata": cell.metadata})) for cell in view.cells]
        proposal = await asyncio.to_thread(propose, cells, stem)
        language = kernel.get("language", PYTHON)
        if language != PYTHON:
            unknown = f"The values in a {language} notebook cannot be detected. Write the parameters cell yourself."
            return Proposal(proposal.name, proposal.description, ""), kernel, unknown
        problem = None if proposal.parameters else "No cell assigns a plain value to a variable that is kept."
        return proposal, kernel, problem

    async def save(self, wish: SkillSource, by: str, agent_id: str | None) -> Listed:
        """Saves the skill and trusts exactly the version that was written, since the user made it.

        Raises: NotebookError, NotFound, StorageError; InvalidRequest if a field is wrong or the name is taken.
        """
        view = await self._notebooks.read(wish.path)
        kernel = await asyncio.to_thread(kernel_facts, view.kernel_name or DEFAULT_KERNEL)
        folder = self._library.folder(wish.place, agent_id)
        assert folder is not None, "nobody saves into the package"
        cells = [_nb_cell(view, index) for index in range(len(view.cells))]
        notebook = await asyncio.to_thread(skill_notebook, cells, wish.name, wish.description, wish.parameters, kernel)
        await self._refuse_namesakes(wish, folder, agent_id)
        private = wish.place != "project"
        path = await asyncio.to_thread(
            write_skill, folder, wish.name, notebook, overwrite=wish.overwrite, private=private
        )
        self._announce()
        real = await asyncio.to_thread(path.resolve)
        digest = notebook_digest(notebook)
        return await self._library.trust(wish.name, digest, by, agent_id, id=skill_id(wish.place, real))

    async def _refuse_namesakes(self, wish: SkillSource, folder: Path, agent_id: str | None) -> None:
        """Refuses a second file with the same name, which would be ambiguous. Raises: NotFound, InvalidRequest."""
        own = await asyncio.to_thread((folder / f"{wish.name}.ipynb").resolve)
        others = [path for path in await self._library.in_place(wish.name, wish.place, agent_id) if path != own]
        if others:
            message = f"`name`: {others[0]} already defines the skill {wish.name!r}. Choose another name."
            raise InvalidRequest(message, field="name")


def _nb_cell(view: NotebookView, index: int) -> dict[str, Any]:
    cell = view.cells[index]
    return {"cell_type": cell.cell_type, "id": cell.id, "metadata": dict(cell.metadata), "source": cell.source}
