"""What the file tools know about paths, and the approval needed before credential files are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

from onyx_jupyter.errors import PathNotAllowed
from onyx_jupyter.messages import Origin, Risk
from onyx_jupyter.protocols import ExactScope, ToolPreview
from onyx_jupyter.security.credential_files import holds_credentials, why_asked
from onyx_jupyter.toolsets.context import ToolContext

PATH = "As in the file browser."


def is_notebook(path: str, real: Path) -> bool:
    """Checks both names, so that a link does not hide a notebook."""
    return path.lower().rstrip("/ ").endswith(".ipynb") or real.suffix.lower() == ".ipynb"


def notebook_path(real: Path, context: ToolContext) -> str | None:
    """The path that the notebook tools use; None if it is not a notebook or out of their reach."""
    if real.suffix.lower() != ".ipynb":
        return None
    try:
        return context.paths.api_path(str(real))
    except PathNotAllowed:
        return None


class Writer(TypedDict):
    """The result fields that say who wrote its text."""

    origin: Origin
    external: str


def written_by(real: Path, context: ToolContext) -> Writer:
    """Who wrote the text at this path: files in the agent's workspace are its own, all others count as outside text.

    For a folder this covers everything below it, so a folder that contains tool results is not the agent's own.
    """
    results = context.paths.workspace / "results"
    own = context.paths.in_workspace(real) and results not in (real, *real.parents) and real not in results.parents
    return {"origin": "memory" if own else "outside", "external": f"file {context.paths.shown(real)}"}


def reading_risk(path: str, context: ToolContext) -> Risk:
    """The risk of reading that file; its credentials would go to the model. Raises: PathNotAllowed."""
    real = context.paths.resolve(path)
    is_file = real.exists() and not real.is_dir()
    return "network" if is_file and holds_credentials(path, real) else "read"


def reading_preview(tool: str, path: str, context: ToolContext) -> ToolPreview:
    """The preview for the approval to read a credential file. Raises: PathNotAllowed."""
    shown = context.paths.shown(context.paths.resolve(path))
    return ToolPreview(
        summary=f"Read {shown}",
        details={"path": shown} | ({"asked": path} if path != shown else {}),
        grant=f"{tool} {json.dumps(shown, ensure_ascii=False)}",
        grant_text=f"every {tool} of {shown}",
        exactly=ExactScope({"path": shown}),
        must_ask=why_asked(shown),
    )
