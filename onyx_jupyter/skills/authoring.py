"""Writes a notebook as a skill into a skills folder. It never overwrites one unasked, nor runs it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.skills.notebook_skill import PARAMETERS_TAG, PYTHON, tags_of
from onyx_jupyter.skills.parameters import ParametersProblem, parse_parameters
from onyx_jupyter.skills.proposal import without_values
from onyx_jupyter.skills.skill import SkillProblem, checked_description, checked_name
from onyx_jupyter.storage.atomic_write import make_private_folder, write_text_atomically

_PLAIN_FILE = 0o644

Cells = Sequence[Mapping[str, Any]]


def skill_notebook(
    cells: Cells, name: str, description: str, parameters: str, kernelspec: Mapping[str, str]
) -> dict[str, Any]:
    """An nbformat 4.5 notebook without outputs, with a tagged parameters cell and the skill's facts in the metadata.

    Raises: InvalidRequest with the invalid field.
    """
    python = kernelspec.get("language", PYTHON) == PYTHON
    facts = {"name": _field("name", checked_name, name)}
    facts["description"] = _field("description", checked_description, description)
    names: list[str] = []
    if python and parameters.strip():
        names = [item.name for item in _field("parameters", parse_parameters, parameters).items]
    made = [_bare(cell) for cell in cells]
    made = [_without(cell, names) if python else cell for cell in made if PARAMETERS_TAG not in tags_of(cell)]
    made = [cell for cell in made if cell["source"].strip() or cell["cell_type"] != "code"]
    if parameters.strip():
        place = next((index for index, cell in enumerate(made) if cell["cell_type"] == "code"), len(made))
        made.insert(place, _parameters_cell(parameters, {cell["id"] for cell in made}))
    metadata = {"kernelspec": dict(kernelspec), "onyx": {"skill": facts}}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def write_skill(folder: Path, name: str, notebook: Mapping[str, Any], *, overwrite: bool, private: bool) -> Path:
    """Returns the path written. Raises: StorageError; InvalidRequest if a skill of that name exists."""
    path = folder / f"{name}.ipynb"
    taken = next((place for place in (path, folder / name) if place.exists() or place.is_symlink()), None)
    if taken is not None and not (overwrite and taken == path and not path.is_symlink()):
        raise InvalidRequest(f"`name`: {folder} already has a skill {name!r}. Choose another name.", field="name")
    make_private_folder(folder)
    text = json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
    write_text_atomically(path, text, **({} if private else {"mode": _PLAIN_FILE}))
    return path


def _field(name: str, check: Any, value: str) -> Any:
    try:
        return check(value)
    except (SkillProblem, ParametersProblem) as problem:
        raise InvalidRequest(f"`{name}`: {problem}", field=name) from problem


def _bare(cell: Mapping[str, Any]) -> dict[str, Any]:
    """The cell without outputs and metadata of its last run."""
    metadata = {key: value for key, value in cell["metadata"].items() if key not in ("execution", "collapsed")}
    made = {"cell_type": cell["cell_type"], "id": cell["id"], "metadata": metadata, "source": cell["source"]}
    return {**made, "execution_count": None, "outputs": []} if cell["cell_type"] == "code" else made


def _without(cell: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    if cell["cell_type"] != "code" or not names:
        return cell
    return {**cell, "source": without_values(cell["source"], names)}


def _parameters_cell(source: str, taken: set[str]) -> dict[str, Any]:
    names = (PARAMETERS_TAG, *(f"{PARAMETERS_TAG}-{number}" for number in range(len(taken) + 1)))
    cell_id = next(name for name in names if name not in taken)
    made = {"cell_type": "code", "id": cell_id, "metadata": {"tags": [PARAMETERS_TAG]}, "source": source.strip("\n")}
    return {**made, "execution_count": None, "outputs": []}
