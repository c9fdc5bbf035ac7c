"""What the file tools say and know about paths, and what is asked before some are read. It opens nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

from onyx_jupyter.errors import PathNotAllowed
from onyx_jupyter.messages import Origin, Risk
from onyx_jupyter.protocols import Exactly, ToolPreview
from onyx_jupyter.security.credential_files import holds_credentials, why_asked
from onyx_jupyter.toolsets.context import ToolContext

PATH = "As in the file browser."


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


class Writer(TypedDict):
    """What a result says of who wrote its text."""

    origin: Origin
    external: str


def written_by(real: Path, context: ToolContext) -> Writer:
    """Who wrote the text there: the agent's own files were noted before, all others are anybody's.

    Of a folder it is the texts below, so one that holds what tools brought in is not the agent's own.
    """
    results = context.paths.workspace / "results"
    own = context.paths.in_workspace(real) and results not in (real, *real.parents) and real not in results.parents
    return {"origin": "memory" if own else "outside", "external": f"file {context.paths.shown(real)}"}


def reading_risk(path: str, context: ToolContext) -> Risk:
    """That of reading the file at that path: what credentials it holds go to the model. Raises: PathNotAllowed."""
    real = context.paths.resolve(path)
    is_file = real.exists() and not real.is_dir()
    return "network" if is_file and holds_credentials(path, real) else "read"


def reading_preview(tool: str, path: str, context: ToolContext) -> ToolPreview:
    """The question before a file of credentials is read. Raises: PathNotAllowed."""
    shown = context.paths.shown(context.paths.resolve(path))
    return ToolPreview(
        summary=f"Read {shown}",
        details={"path": shown} | ({"asked": path} if path != shown else {}),
        grant=f"{tool} {json.dumps(shown, ensure_ascii=False)}",
        grant_text=f"every {tool} of {shown}",
        exactly=Exactly({"path": shown}),
        must_ask=why_asked(shown),
    )
