"""Files with instructions that Onyx follows: writing one always asks the user, whatever the mode and grants.

Every tool that writes to a path calls `why_asked` with its resolved path in its preview.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import Path

from onyx_jupyter.memory.bootstrap import BOOTSTRAP_FILES
from onyx_jupyter.project.instructions import ONYX_FOLDER, PROJECT_FILE
from onyx_jupyter.security.confusables import remove_invisible
from onyx_jupyter.toolsets.context import ToolContext

OF_PROJECT = "it holds instructions that Onyx follows in this project"
OF_AGENT = "it holds instructions that Onyx follows"
_PROJECT = (PROJECT_FILE, ONYX_FOLDER, f"{ONYX_FOLDER}/skills")
_AGENT = (*BOOTSTRAP_FILES, "skills", "tools")


def why_asked(real: Path, context: ToolContext) -> str:
    """Why writing that resolved file must ask the user, despite any grant; empty for other files. Blocks."""
    reason = context.memory.why_asked(real)
    if reason:
        return reason
    if _is_among(real, context.paths.server_root, _PROJECT):
        return OF_PROJECT
    return OF_AGENT if _is_among(real, context.paths.workspace, _AGENT) else ""


def _is_among(real: Path, root: Path, names: Iterable[str]) -> bool:
    """Whether the file is one of these places under the root, or inside one, under any name."""
    inside = real.relative_to(root).parts if root in real.parents else ()
    if inside and _plain(inside[0]) in {_plain(name) for name in names}:
        return True
    reals, identities = set(), set()
    for name in names:  # a place may be a link, and a file may have two names
        reals.add(_resolved(root / name))
        identities.add(_identity(root / name))
    above = [real, *real.parents]
    return not reals.isdisjoint(above) or not (identities - {None}).isdisjoint(map(_identity, above))


def _plain(name: str) -> str:
    """The name as seen by file systems that ignore case, invisible characters, streams, or trailing dots."""
    visible, _ = remove_invisible(unicodedata.normalize("NFKC", name))
    return visible.partition(":")[0].rstrip(". ").casefold()


def _resolved(place: Path) -> Path:
    try:
        return place.resolve()
    except (OSError, RuntimeError):  # circular links
        return place


def _identity(place: Path) -> tuple[int, int] | None:
    try:
        found = place.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
