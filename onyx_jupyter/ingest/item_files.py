"""The current files of an item: a file, those of a folder, or the copy of a page or an upload."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from onyx_jupyter.errors import DocumentUnreadable, PathNotAllowed
from onyx_jupyter.ingest.copies import KNOWN_KINDS
from onyx_jupyter.ingest.items import Item
from onyx_jupyter.ingest.pipeline import FileToRead
from onyx_jupyter.ingest.readers import reader_of
from onyx_jupyter.security.path_guard import PathGuard

MAX_FILES = 20_000

# (folder, guard) → the regular files below it that are not hidden, ignored or linked.
Walk = Callable[[Path, PathGuard], Iterable[Path]]


@dataclass(frozen=True, slots=True)
class ItemFiles:
    """`problem` says why there are none, in which case what was read before is kept."""

    files: Sequence[FileToRead] = ()
    problem: str | None = None


def files_of(
    item: Item, guard: PathGuard, walk: Walk, kept: Path, is_memory: Callable[[Path], bool] = lambda real: False
) -> ItemFiles:
    """Blocks. `kept` is the folder of the copies; memory files are left out.

    Raises: DocumentUnreadable if a folder contains too many.
    """
    if item.kind != "path":
        return _copy_of(item, kept)
    try:
        real = guard.resolve(item.location)
    except PathNotAllowed:
        return ItemFiles(
            problem=f"{item.location} is outside this server's folders. What was already read can still be found."
        )
    if real.is_dir():
        return ItemFiles(_in_folder(real, guard, walk, is_memory))
    if not real.exists():
        return ItemFiles(
            problem="It no longer exists. What was already read can still be found; remove it if you no longer need it."
        )
    if reader_of(real.name) is None and not _is_text(real, guard):
        return ItemFiles(problem=f"Files of type {real.suffix} are not supported. Supported: {KNOWN_KINDS}.")
    return ItemFiles([_file(real, guard)])


def belongs(name: str, item: Item) -> bool:
    """Whether a document with that name in the index belongs to the item."""
    return name == item.location or (item.kind == "path" and name.startswith(item.location.rstrip(os.sep) + os.sep))


def orphaned_names(names: Iterable[str], items: Iterable[Item]) -> list[str]:
    """The names in the index that belong to none of the items."""
    items = list(items)
    places = {item.location for item in items}
    folders = tuple(item.location.rstrip(os.sep) + os.sep for item in items if item.kind == "path")
    return [name for name in names if name not in places and not name.startswith(folders)]


def _in_folder(folder: Path, guard: PathGuard, walk: Walk, is_memory: Callable[[Path], bool]) -> list[FileToRead]:
    """The files of known kinds, judged by name; others are not documents."""
    files = []
    for real in walk(folder, guard):
        if is_memory(real):
            continue
        if reader_of(real.name) is not None and (real.suffix or _is_text(real, guard)):
            files.append(_file(real, guard))
        if len(files) > MAX_FILES:
            raise DocumentUnreadable(
                f"The folder contains more than {MAX_FILES} documents. Add only the folders that matter."
            )
    return files


def _file(real: Path, guard: PathGuard) -> FileToRead:
    @contextmanager
    def opened() -> Iterator[BinaryIO]:
        with guard.file(real) as descriptor:

            def judged(path: str, flags: int) -> int:
                return os.dup(descriptor)

            with open(real, "rb", opener=judged) as file:  # keeps the name, which a descriptor alone lacks
                yield file

    try:
        status = real.stat()
    except OSError:  # deleted meanwhile: opening it reports that
        return FileToRead(str(real), real.name, real.name, 0, 0, opened)
    return FileToRead(str(real), real.name, real.name, status.st_size, status.st_mtime_ns, opened)


def _copy_of(item: Item, kept: Path) -> ItemFiles:
    if item.kept is None:
        return ItemFiles(problem=item.problem or "It has not been fetched yet. Refresh it.")
    place = kept / item.kept
    try:
        status = place.stat()
    except OSError:
        return ItemFiles(problem="Its copy is missing. Remove it and add it again.")

    @contextmanager
    def opened() -> Iterator[BinaryIO]:
        with place.open("rb") as file:
            yield file

    title = item.location.partition("/")[2] if item.kind == "upload" else item.location.partition("://")[2]
    return ItemFiles([FileToRead(item.location, place.name, title, status.st_size, status.st_mtime_ns, opened)])


def _is_text(real: Path, guard: PathGuard) -> bool:
    try:
        with guard.file(real) as descriptor:
            return b"\0" not in os.pread(descriptor, 4_096, 0) if hasattr(os, "pread") else True
    except (OSError, PathNotAllowed):
        return False
