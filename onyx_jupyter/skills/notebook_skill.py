"""Reads a notebook as a skill: its name, instructions, parameters and code. It never runs or changes it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onyx_jupyter.skills.front_matter import parse_yaml, requires_of
from onyx_jupyter.skills.parameters import Parameters, ParametersProblem, parse_parameters
from onyx_jupyter.skills.regular_file import read_regular
from onyx_jupyter.skills.skill import (
    MAX_SHOWN_CHARS,
    Skill,
    SkillProblem,
    Source,
    checked_description,
    checked_name,
    too_long,
)

MAX_BYTES = 30_000_000
PARAMETERS_TAG = "parameters"
PYTHON = "python"
_HEADS = re.compile(r"^[^\S\n]*#[^\S\n]*(%%+)", re.MULTILINE)
_SPLIT_META = "---"


def read_notebook_skill(path: Path, source: Source) -> Skill:
    """The skill, with its `problem` if it has one. Raises: OSError."""
    name = path.stem
    try:
        notebook, sha256 = _load(path)
    except SkillProblem as error:
        return Skill(name, "notebook", "", source, path, problem=str(error))
    cells = notebook["cells"]
    meta, problem = _meta(notebook)
    name, description, problems = _name_and_description(meta, path, problem)
    kernel, language = _kernel(notebook)
    facts: dict[str, Any] = {}
    for key, read in (("requires", lambda: requires_of(meta)), ("parameters", lambda: _parameters(cells, language))):
        try:
            facts[key] = read()
        except (SkillProblem, ParametersProblem) as error:
            problems.append(str(error))
    text = f"{_head(meta, kernel, language)}\n{_text(cells)}"
    if (reason := too_long(text, "Its cells contain")) is not None:
        problems.append(reason)
    return Skill(
        name=name,
        kind="notebook",
        description=description,
        source=source,
        path=path,
        digest=notebook_digest(notebook),
        text=text[:MAX_SHOWN_CHARS],
        instructions="\n\n".join(_source(cell).strip() for cell in cells if cell["cell_type"] == "markdown"),
        kernel=kernel,
        language=language,
        hashes={path.name: sha256},
        content=_without_outputs(notebook),
        problem=" ".join(problems) or None,
        **facts,
    )


def notebook_digest(notebook: Mapping[str, Any]) -> str:
    """The digest of a skill whose file holds that nbformat 4 JSON."""
    metadata, cells = notebook["metadata"], notebook["cells"]
    what = {
        "onyx": [metadata.get("onyx"), metadata.get("onyx.skill")],
        "kernel": [*_kernel(notebook)],
        "cells": [[cell["cell_type"], sorted(tags_of(cell)), _source(cell)] for cell in cells],
    }
    canonical = json.dumps(what, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def tags_of(cell: Mapping[str, Any]) -> Sequence[str]:
    """The tags of an nbformat cell."""
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, Mapping) else None
    return [str(tag) for tag in tags] if isinstance(tags, list) else []


def _load(path: Path) -> tuple[dict[str, Any], str]:
    """Valid nbformat 4 JSON, and the file's hash. Raises: SkillProblem, OSError."""
    raw = read_regular(path, MAX_BYTES, "Clear its outputs.")
    try:
        notebook = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise SkillProblem(f"It is not a notebook: its JSON cannot be parsed ({_short(error)}).") from error
    if not isinstance(notebook, dict):
        raise SkillProblem("It is not a notebook: its JSON is not an object.")
    version = notebook.get("nbformat")
    if version != 4:
        known = f"is in notebook format {version}" if isinstance(version, int) else "does not give its notebook format"
        raise SkillProblem(f"The notebook {known}; format 4 is needed. Open it in JupyterLab and save it.")
    cells = notebook.get("cells")
    if not isinstance(cells, list) or not all(_is_cell(cell) for cell in cells):
        raise SkillProblem("The notebook is malformed: its cells are invalid.")
    if not isinstance(notebook.get("metadata"), dict):
        raise SkillProblem("The notebook is malformed: it has no metadata.")
    return notebook, hashlib.sha256(raw).hexdigest()


def _is_cell(cell: object) -> bool:
    if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown", "raw"):
        return False
    source = cell.get("source")
    return isinstance(source, str) or (isinstance(source, list) and all(isinstance(line, str) for line in source))


def _meta(notebook: Mapping[str, Any]) -> tuple[Mapping[str, Any], str | None]:
    """The notebook's description of itself, from `onyx.skill` or the YAML of a first raw cell; or why there is none."""
    metadata = notebook["metadata"]
    onyx = metadata.get("onyx")
    given = onyx.get("skill") if isinstance(onyx, Mapping) else metadata.get("onyx.skill")
    if given is not None:
        if isinstance(given, Mapping):
            return given, None
        return {}, "Its metadata `onyx.skill` is not an object with name and description."
    first = notebook["cells"][0] if notebook["cells"] else {}
    if first.get("cell_type") != "raw":
        return {}, "It does not describe itself. Add metadata `onyx.skill` or a first raw cell with YAML."
    yaml_text = _source(first).strip()
    if yaml_text.startswith(_SPLIT_META):
        yaml_text = yaml_text.removeprefix(_SPLIT_META).strip()
    try:
        return parse_yaml(yaml_text.removesuffix(_SPLIT_META)), None
    except SkillProblem as problem:
        return {}, str(problem)


def _name_and_description(meta: Mapping[str, Any], path: Path, problem: str | None) -> tuple[str, str, list[str]]:
    problems = [problem] if problem else []
    name, description = path.stem, ""
    try:
        name = checked_name(meta.get("name", path.stem))
    except SkillProblem as error:
        problems.append(str(error))
    if not problem:
        try:
            description = checked_description(meta.get("description"))
        except SkillProblem as error:
            problems.append(str(error))
    return name, description, problems


def _kernel(notebook: Mapping[str, Any]) -> tuple[str | None, str]:
    """The requested kernel, and its language in lower case."""
    spec = notebook["metadata"].get("kernelspec")
    info = notebook["metadata"].get("language_info")
    spec, info = (part if isinstance(part, Mapping) else {} for part in (spec, info))
    language = spec.get("language") or info.get("name") or PYTHON
    return (str(spec["name"]) if spec.get("name") else None), str(language).lower()


def _parameters(cells: Sequence[Mapping[str, Any]], language: str) -> Parameters:
    """The parameters in the first tagged cell. Raises: ParametersProblem."""
    tagged = [cell for cell in cells if cell["cell_type"] == "code" and PARAMETERS_TAG in tags_of(cell)]
    if not tagged:
        return Parameters()
    if language != PYTHON:
        return Parameters(free_form=f"The parameters of a {language} notebook cannot be detected, so list them.")
    return parse_parameters(_source(tagged[0]))


def _head(meta: Mapping[str, Any], kernel: str | None, language: str) -> str:
    """The metadata that counts but is in no cell."""
    lines = [f"# kernel: {kernel or 'the default one'} ({language})"]
    lines += [f"# {key}: {json.dumps(value, ensure_ascii=False, default=str)}" for key, value in sorted(meta.items())]
    return "\n".join(lines) + "\n"


def _text(cells: Sequence[Mapping[str, Any]]) -> str:
    """Every cell under a header line, for people to compare; no line of a cell can pass for a header."""
    signs = "%" * max([2, *(len(found[1]) + 1 for cell in cells for found in _HEADS.finditer(_source(cell)))])
    parts = []
    for cell in cells:
        tags = f" [{', '.join(tags_of(cell))}]" if tags_of(cell) else ""
        kind = "" if cell["cell_type"] == "code" else f" {cell['cell_type']}"
        parts.append(f"# {signs}{kind}{tags}\n{_source(cell).rstrip()}\n")
    return "\n".join(parts)


def _without_outputs(notebook: Mapping[str, Any]) -> dict[str, Any]:
    def bare(cell: Mapping[str, Any]) -> dict[str, Any]:
        kept = {key: value for key, value in cell.items() if key not in ("outputs", "execution_count")}
        return {**kept, "outputs": [], "execution_count": None} if cell["cell_type"] == "code" else kept

    return {**notebook, "cells": [bare(cell) for cell in notebook["cells"]]}


def _source(cell: Mapping[str, Any]) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def _short(error: Exception) -> str:
    return str(error)[:120] or type(error).__name__
