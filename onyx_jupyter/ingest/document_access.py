"""Which documents an agent is shown: those in folders that it may read, and what has no folder. It searches nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from onyx_jupyter.errors import PathNotAllowed
from onyx_jupyter.ingest.items import Item
from onyx_jupyter.security.path_guard import PathGuard

UPLOAD = "upload:"
# Of pages and uploads, which belong to the person and to no folder.
_WITHOUT_FOLDER = (UPLOAD, "http://", "https://")


class Reach:
    """Of one agent. Each call blocks: a path is judged by where it leads now."""

    def __init__(self, guard: PathGuard, is_memory: Callable[[Path], bool]) -> None:
        self._guard = guard
        self._is_memory = is_memory

    def shows(self, name: str) -> bool:
        """Whether the document of that name in the index may be shown."""
        if name.startswith(_WITHOUT_FOLDER):
            return True
        try:
            return not self._is_memory(self._guard.resolve(name))
        except PathNotAllowed:
            return False

    def prefixes(self, items: Iterable[Item]) -> Sequence[str] | None:
        """Of the names to search among; None where all of them may be shown. What is found is still to be judged."""
        places = [item.location for item in items if item.kind == "path"]
        allowed = [place for place in places if self.shows(place)]
        return None if len(allowed) == len(places) else [*allowed, *_WITHOUT_FOLDER]
