"""Tracks where notebooks moved when they were renamed through Jupyter while it runs."""

from __future__ import annotations

from onyx_jupyter.notebook.paths import NotebookPaths

_MAX_COUNT = 1_000


class Renames:
    """Former paths of files and folders. Moves by other programs are not known.

    A name leads to the last notebook that had it: once another notebook takes it, nothing leads to the earlier one.
    """

    def __init__(self, paths: NotebookPaths) -> None:
        self._paths = paths
        self._now: dict[str, str | None] = {}

    def note(self, old_path: str, new_path: str) -> None:
        """A file or a folder was renamed."""
        old, new = self._paths.canonical(old_path), self._paths.canonical(new_path)
        # A file that left a folder before the folder was renamed is looked up under the folder's new name first.
        self._now = {
            name if name == old else _led(name, old, new): now and _led(now, old, new)
            for name, now in self._now.items()
        }
        self._now.pop(new, None)
        self._keep(old, new)

    def taken(self, path: str) -> None:
        """A file of that name was saved, so the name no longer refers to an earlier notebook."""
        name = self._paths.canonical(path)
        if self.path_now(name) is not None:
            self._keep(name, None)

    def deleted(self, path: str) -> None:
        """The file or folder at that path was deleted, so its former names lead nowhere."""
        gone = self._paths.canonical(path)
        self.taken(gone)
        self._now = {name: None if now and _is_at(now, gone) else now for name, now in self._now.items()}

    def path_now(self, path: str) -> str | None:
        """The current path of the last notebook that had this path; None if it was not moved."""
        above = path
        while above not in self._now:
            above = above.rpartition("/")[0]
            if not above:
                return None
        now = self._now[above]
        return None if now is None else now + path.removeprefix(above)

    def _keep(self, name: str, now: str | None) -> None:
        self._now.pop(name, None)
        self._now[name] = now
        while len(self._now) > _MAX_COUNT:
            del self._now[next(iter(self._now))]


def _is_at(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/")


def _led(path: str, old: str, new: str) -> str:
    return new + path.removeprefix(old) if _is_at(path, old) else path
