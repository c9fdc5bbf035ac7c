"""Lists a folder's files for a search, without hidden and linked ones and what .gitignore and .ignore exclude."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from onyx_jupyter.errors import PathNotAllowed
from onyx_jupyter.security.open_beneath import Folder
from onyx_jupyter.security.path_guard import PathGuard

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".ignore")  # the later one takes precedence
MAX_IGNORE_BYTES = 1_000_000
MAX_DEPTH = 100


@dataclass(frozen=True)
class IgnoreRules:
    """The rules of one folder and of all above it; deeper folders take precedence."""

    layers: tuple[tuple[PurePosixPath, GitIgnoreSpec], ...] = ()

    def below(self, folder: Folder, path: PurePosixPath) -> IgnoreRules:
        """Adds the rules of a folder; `path` is relative to the root, as in `ignores`."""
        added = [(path, spec) for text in _ignore_texts(folder) if (spec := _parsed(text)) is not None]
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


@dataclass(frozen=True, slots=True)
class Found:
    """A file in its open folder: `path` is resolved, `read` returns its first bytes."""

    path: Path
    size_bytes: int
    read: Callable[[int], bytes]


def walk(start: Path, paths: PathGuard) -> Iterator[Found]:
    """Every regular file below `start`, a resolved folder, folder by folder and by name.

    The rules of the folders above apply, unless they exclude `start` itself, which was requested explicitly.
    Raises: OSError if `start` cannot be opened.
    """
    root = next(root for root in sorted(paths.roots, key=lambda root: -len(root.parts)) if start.is_relative_to(root))
    rules = _rules_above(start, root, paths)
    pending = [(start, rules)]
    while pending:
        place, rules = pending.pop()
        try:
            with paths.folder(place) as folder:
                if paths.is_private(folder):
                    continue
                rules = rules.below(folder, _from_root(place, root))
                folders, files = _wanted(folder, rules, root)
                yield from files
        except (OSError, PathNotAllowed):
            if place == start:
                raise
            continue
        if len(place.parts) - len(start.parts) < MAX_DEPTH:
            pending.extend((below, rules) for below in reversed(folders))


def _wanted(folder: Folder, rules: IgnoreRules, root: Path) -> tuple[list[Path], list[Found]]:
    folders, files = [], []
    for entry in sorted(folder.entries(), key=lambda entry: entry.name):
        path = folder.path / entry.name
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and not entry.is_file(follow_symlinks=False):
                continue
            if entry.name.startswith(".") or rules.ignores(_from_root(path, root), is_folder=is_folder):
                continue
            if is_folder:
                folders.append(path)
            else:
                size_bytes = entry.stat(follow_symlinks=False).st_size
                files.append(Found(path, size_bytes, _reader(folder, entry.name)))
        except OSError:  # deleted meanwhile
            continue
    return folders, files


def _reader(folder: Folder, name: str) -> Callable[[int], bytes]:
    def read(limit_bytes: int) -> bytes:
        with os.fdopen(folder.open(name), "rb") as file:
            return file.read(limit_bytes)

    return read


def _rules_above(start: Path, root: Path, paths: PathGuard) -> IgnoreRules:
    rules = IgnoreRules()
    for place in reversed([folder for folder in start.parents if folder.is_relative_to(root)]):
        with paths.folder(place) as folder:
            rules = rules.below(folder, _from_root(place, root))
    within = [start, *start.parents]
    named = any(
        rules.ignores(_from_root(folder, root), is_folder=True)
        for folder in within
        if folder != root and folder.is_relative_to(root)
    )
    return IgnoreRules() if named else rules


def _ignore_texts(folder: Folder) -> list[str]:
    texts = []
    for name in IGNORE_FILES:
        try:
            with os.fdopen(folder.open(name), "rb") as file:
                texts.append(file.read(MAX_IGNORE_BYTES).decode("utf-8", "replace"))
        except OSError:
            continue
    return texts


def _from_root(path: Path, root: Path) -> PurePosixPath:
    return PurePosixPath(path.relative_to(root).as_posix())
