"""Deletes old runs. It never touches one that is in progress, is new, or is not a run's own file."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass

from onyx_jupyter.skills.run_record import ID_CHARS, RunFolder, RunRecord

log = logging.getLogger(__name__)
DAY_S = 86_400.0
# People may keep their own files beside the runs: only names that a run can have are considered.
_OF_A_RUN = re.compile(rf"[0-9A-Z]{{{ID_CHARS}}}-[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass(frozen=True)
class RunLimits:
    """How many runs are kept, and how many bytes of them."""

    count: int
    size_bytes: int


@dataclass(frozen=True)
class _Kept:
    """One run's files: their total size, and when one was last written (seconds since 1970)."""

    stem: str
    size_bytes: int
    written: float


def prune_runs(folder: RunFolder, limits: RunLimits, now: float) -> int:
    """Removes the oldest runs until both limits hold, if possible. Returns how many were removed. For threads.

    Keeps runs that were written within a day, or are marked as running. `now` is in seconds since 1970.
    Raises: StorageError.
    """
    kept = [_kept(folder, stem) for stem in folder.stems() if _OF_A_RUN.fullmatch(stem)]
    count, size_bytes, gone = len(kept), sum(run.size_bytes for run in kept), 0
    for run in reversed(kept):
        if count <= limits.count and size_bytes <= limits.size_bytes:
            break
        if now - run.written < DAY_S or not _is_over(run.stem, folder.read(run.stem)):
            continue
        folder.remove(run.stem)
        count, size_bytes, gone = count - 1, size_bytes - run.size_bytes, gone + 1
    return gone


def _is_over(stem: str, record: RunRecord | None) -> bool:
    """An unreadable record counts as over: a run in progress keeps rewriting its record."""
    return record is None or (record.status != "running" and record.stem == stem)


def _kept(folder: RunFolder, stem: str) -> _Kept:
    size_bytes, written = 0, 0.0
    for path in folder.files(stem):
        try:
            found = path.lstat()
        except FileNotFoundError:
            continue
        except OSError as error:
            log.warning("The run file %s could not be checked: %s", path.name, error)
            return _Kept(stem, 0, float("inf"))
        size_bytes, written = size_bytes + found.st_size, max(written, found.st_mtime)
    return _Kept(stem, size_bytes, written)
