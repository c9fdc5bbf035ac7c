"""Which files a project does not want looked at: .gitignore and .ignore, folder by folder. It opens nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".ignore")  # the later one has the last word
MAX_IGNORE_BYTES = 1_000_000


@dataclass(frozen=True)
class IgnoreRules:
    """The rules of one folder and of all above it; a deeper folder has the last word."""

    layers: tuple[tuple[PurePosixPath, GitIgnoreSpec], ...] = ()

    def below(self, folder: PurePosixPath, texts: Sequence[str]) -> IgnoreRules:
        """With those of a folder (from the root, as `ignores` takes paths), the weakest first."""
        added = [(folder, spec) for text in texts if (spec := _parsed(text)) is not None]
        return IgnoreRules((*self.layers, *added)) if added else self

    def ignores(self, path: PurePosixPath, *, is_folder: bool) -> bool:
        """Whether the nearest rule that speaks of the path excludes it."""
        for folder, spec in reversed(self.layers):
            relative = path.relative_to(folder).as_posix()
            found = spec.check_file(f"{relative}/" if is_folder else relative).include
            if found is not None:
                return found
        return False


def _parsed(text: str) -> GitIgnoreSpec | None:
    from pathspec import GitIgnoreSpec  # where a search runs, in a thread: a server start does not pay for it

    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    try:
        return GitIgnoreSpec.from_lines(lines) if lines else None
    except ValueError:  # a pattern that no one could mean; git, too, goes on without it
        return None
