"""Skill notebooks and folders as people write them, for tests."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onyx_jupyter.skills.discovery import Place


def cell(source: str, *tags: str, kind: str = "code") -> dict[str, Any]:
    """An nbformat cell."""
    made: dict[str, Any] = {"cell_type": kind, "metadata": {"tags": list(tags)} if tags else {}, "source": source}
    return {**made, "outputs": [], "execution_count": None} if kind == "code" else made


def notebook(cells: Sequence[dict[str, Any]], skill: Any = None, **metadata: Any) -> dict[str, Any]:
    """nbformat 4.5 JSON as Jupyter writes it, sources as lists of lines; `skill` is its metadata `onyx.skill`."""
    onyx = {} if skill is None else {"onyx": {"skill": skill}}
    named = [{"id": f"c{index}", **item, "source": lines(item["source"])} for index, item in enumerate(cells)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {**kernel, **onyx, **metadata}, "cells": named}


def lines(source: Any) -> Any:
    return source.splitlines(keepends=True) if isinstance(source, str) else source


def write_notebook(path: Path, *cells: dict[str, Any], description: str = "Does it.", **more: Any) -> Path:
    """A skill notebook of that name; `more` goes into its metadata `onyx.skill`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    skill = {"name": path.stem, "description": description, **more}
    path.write_text(json.dumps(notebook(cells or [cell("1 + 1")], skill)))
    return path


def write_text_skill(folder: Path, body: str = "Do it well.", front: str | None = None, **files: str) -> Path:
    """A folder with a SKILL.md; `files` are further ones, by name with `__` for the slash and `_` for the dot."""
    folder.mkdir(parents=True, exist_ok=True)
    front = f"name: {folder.name}\ndescription: Says how.\n" if front is None else front
    (folder / "SKILL.md").write_text(f"---\n{front}---\n{body}\n")
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def places(folder: Path) -> list[Place]:
    """The four places under one folder."""
    return [Place(source, folder / source) for source in ("project", "workspace", "home", "packaged")]
