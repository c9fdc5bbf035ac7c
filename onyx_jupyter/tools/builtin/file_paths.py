"""What the file tools say and know about paths. It opens nothing."""

from __future__ import annotations

from pathlib import Path

from onyx_jupyter.errors import PathNotAllowed
from onyx_jupyter.tools.context import ToolContext

PATH = "As in the file browser; onyx: in front means your workspace."


def is_notebook(path: str, real: Path) -> bool:
    """By either name, so that a link does not hide it."""
    return path.lower().rstrip("/ ").endswith(".ipynb") or real.suffix.lower() == ".ipynb"


def notebook_path(real: Path, context: ToolContext) -> str | None:
    """The path under which the notebook tools know it; None where it is no notebook, or out of their reach."""
    if real.suffix.lower() != ".ipynb":
        return None
    try:
        return context.paths.api_path(str(real))
    except PathNotAllowed:
        return None


def external(real: Path, context: ToolContext) -> str | None:
    """Where the text comes from, if somebody else may have written it: all but the agent's own files.

    Of a folder it is the texts below, so one that holds what tools brought in is not the agent's own.
    """
    results = context.paths.workspace / "results"
    own = context.paths.in_workspace(real) and results not in (real, *real.parents) and real not in results.parents
    return None if own else f"file {context.paths.shown(real)}"
