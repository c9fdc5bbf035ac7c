"""The state of each memory file: its size, versions, and whether the index is up to date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from onyx_jupyter.clock import timestamp
from onyx_jupyter.errors import StorageError, ToolError
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.folder import MemoryFile, read_bytes
from onyx_jupyter.memory.targets import SHARED_PREFIX
from onyx_jupyter.storage.versions import checksum_of


@dataclass(frozen=True, slots=True)
class FileState:
    """One file; `checksum` is of its current content, None if it can't be read or is gone."""

    path: str
    shared: bool
    size_bytes: int
    changed_at: str | None
    checksum: str | None
    versions: int
    indexed: bool
    deleted: bool = False
    problem: str | None = None


def file_states(memory: MemoryFiles, indexed: Mapping[str, str]) -> Sequence[FileState]:
    """Sorted by path; `indexed` is path → checksum of what is indexed. Blocks. Raises: StorageError."""
    kept = memory.kept.counts()
    found = memory.folder.files()
    folders = [file for file in found if file.is_folder]
    here = [_state(file, kept.get(file.path, 0), indexed.get(file.path)) for file in found if not file.is_folder]
    names = {state.path for state in here}
    gone = [_not_found(path, count, folders) for path, count in kept.items() if path not in names]
    return sorted([*here, *gone], key=lambda state: state.path)


def _not_found(path: str, versions: int, folders: Sequence[MemoryFile]) -> FileState:
    """A file with versions only: it is gone, or its folder can't be listed."""
    problem = next((folder.problem for folder in folders if folder.holds(path)), None)
    is_shared = path.startswith(SHARED_PREFIX)
    return FileState(path, is_shared, 0, None, None, versions, indexed=False, deleted=problem is None, problem=problem)


def _state(file: MemoryFile, versions: int, indexed: str | None) -> FileState:
    checksum, problem = None, file.problem
    if problem is None:
        try:
            checksum = checksum_of(read_bytes(file.real))
        except (StorageError, ToolError) as error:
            problem = str(error)
    return FileState(
        path=file.path,
        shared=file.is_shared,
        size_bytes=file.size_bytes,
        changed_at=timestamp(datetime.fromtimestamp(file.changed_ns / 1e9, UTC)) if file.changed_ns else None,
        checksum=checksum,
        versions=versions,
        indexed=checksum is not None and indexed == checksum,
        problem=problem,
    )
