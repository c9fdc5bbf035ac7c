"""Where notebooks have gone that were renamed through Jupyter while it runs. It never looks at a disk."""

from __future__ import annotations

from onyx_jupyter.notebook.paths import NotebookPaths

_MOST = 1_000


class Renames:
    """Former paths of files and folders. What was moved by another program is not known."""

    def __init__(self, paths: NotebookPaths) -> None:
        self._paths = paths
        self._moves: list[tuple[str, str]] = []

    def note(self, old_path: str, new_path: str) -> None:
        """A file or a folder has another path now."""
        self._moves.append((self._paths.canonical(old_path), self._paths.canonical(new_path)))
        del self._moves[:-_MOST]

    def path_now(self, path: str) -> str | None:
        """Where the notebook that had this path is since; None where it was not moved."""
        now = path
        for old, new in self._moves:
            if now == old:
                now = new
            elif now.startswith(f"{old}/"):
                now = new + now.removeprefix(old)
        return None if now == path else now
