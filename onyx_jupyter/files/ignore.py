"""Which files a project excludes: .gitignore and .ignore, folder by folder. The caller reads these files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".ignore")  # the later one takes precedence
MAX_IGNORE_BYTES = 1_000_000


@dataclass(frozen=True)
class IgnoreRules:
    """The rules of one folder and of all above it; deeper folders take precedence."""

    layers: tuple[tuple[PurePosixPath, GitIgnoreSpec], ...] = ()

    def below(self, folder: PurePosixPath, texts: Sequence[str]) -> IgnoreRules:
        """Adds the rules of a folder (relative to the root, as in `ignores`), the weakest first."""
        added = [(folder, spec) for text in texts if (spec := _parsed(text)) is not None]
        return IgnoreRules((*self.layers, *added)) if added else self

    def ignores(self, path: PurePosixPath, *, is_folder: bool) -> bool:
        """Whether the nearest rule that matches the path excludes it."""
        for folder, spec in reversed(self.layers):
            relative = path.relative_to(folder).as_posix()
            found = spec.check_file(f"{relative}/" if is_folder else relative).include
            if found is not None:
                return found
        return False


def _parsed(text: str) -> GitIgnoreSpec | None:
    from pathspec import GitIgnoreSpec  # imported here, in the search thread, to keep the server start fast

    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    try:
        return GitIgnoreSpec.from_lines(lines) if lines else None
    except ValueError:  # an invalid pattern; git ignores it, too
        return None
