"""Which documents an agent may see: those in folders that it may read, and those without a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from onyx_jupyter.errors import PathNotAllowed
from onyx_jupyter.ingest.items import Item
from onyx_jupyter.security.path_guard import PathGuard

UPLOAD = "upload:"
# Pages and uploads, which belong to the user and to no folder.
_WITHOUT_FOLDER = (UPLOAD, "http://", "https://")


class Reach:
    """The documents within reach of one agent. Every method blocks: paths are resolved at each call."""

    def __init__(self, guard: PathGuard, is_memory: Callable[[Path], bool]) -> None:
        self._guard = guard
        self._is_memory = is_memory

    def shows(self, name: str) -> bool:
        """Whether the document with that name in the index may be shown."""
        if name.startswith(_WITHOUT_FOLDER):
            return True
        try:
            return not self._is_memory(self._guard.resolve(name))
        except PathNotAllowed:
            return False

    def prefixes(self, items: Iterable[Item]) -> Sequence[str] | None:
        """Prefixes of the names to search; None if all may be shown. Results still have to be checked with `shows`."""
        places = [item.location for item in items if item.kind == "path"]
        allowed = [place for place in places if self.shows(place)]
        return None if len(allowed) == len(places) else [*allowed, *_WITHOUT_FOLDER]
