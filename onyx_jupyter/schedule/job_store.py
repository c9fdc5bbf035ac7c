"""Keeps the jobs in `schedule/jobs.json`, which people and several servers may edit."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from onyx_jupyter.errors import StorageError
from onyx_jupyter.schedule.jobs import Job, reason_of
from onyx_jupyter.storage.atomic_write import make_private_folder, write_bytes_atomically, write_text_atomically
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.shared_lock import SharedLock

log = logging.getLogger(__name__)
SCHEMA_VERSION = 1
AT_REST_S = 0.2
"""How long a file that is not JSON must be unchanged to count as damaged: a program may be writing it just now."""
_READS = 10
_Stamp = tuple[int, ...]


@dataclass(frozen=True)
class StoredJobs:
    """The valid jobs by id. `refused` are entries that are none: they stay in the file, and `problems` says why."""

    jobs: Mapping[str, Job] = field(default_factory=lambda: MappingProxyType({}))
    refused: tuple[Any, ...] = ()
    problems: tuple[str, ...] = ()


class JobStore:
    """Reads the file again when it has changed. For threads, not the event loop.

    A file that is not JSON is renamed to `jobs.json.damaged`, and the last good one is used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last_good = path.with_name("jobs.last-good.json")
        self._lock = SharedLock(path)
        self._seen: _Stamp | None = None
        self._stored = StoredJobs()
        self._parsed: dict[str, tuple[Any, Job]] = {}

    @property
    def has_changed(self) -> bool:
        """Whether the file differs from what was read last; costs one look at its size and time."""
        return self._stamp() != self._seen

    def read(self) -> StoredJobs:
        """Raises: StorageError if the file exists but cannot be read."""
        with self._lock.threads:
            if self._stamp() != self._seen:
                self._stored, self._seen = self._parse()
            return self._stored

    def change(self, change: Callable[[Mapping[str, Job]], Mapping[str, Job]]) -> StoredJobs:
        """Changes the jobs as they are on disk now; on disk on return. Raises: StorageError, what `change` raises."""
        with self._lock.held():
            old = self.read()
            jobs = change(old.jobs)
            if jobs != old.jobs:
                self._write(jobs, old.refused)
                self._stored, self._seen = StoredJobs(jobs, old.refused, old.problems), self._stamp()
            return self._stored

    def _write(self, jobs: Mapping[str, Job], refused: Sequence[Any]) -> None:
        entries = [*(job.to_json() for job in jobs.values()), *refused]
        text = json.dumps({"schemaVersion": SCHEMA_VERSION, "jobs": entries}, ensure_ascii=False, indent=1)
        make_private_folder(self._path.parent)
        write_text_atomically(self._path, f"{text}\n")
        write_text_atomically(self._last_good, f"{text}\n")

    def _parse(self) -> tuple[StoredJobs, _Stamp]:
        """With the stamp from before it was read: what is written meanwhile is read next time."""
        for _ in range(_READS):
            stamp, text = self._stamp(), self._text(self._path)
            if text is None:
                return StoredJobs(), stamp
            entries, problem = _entries(text)
            if problem is None:
                if not self._last_good.exists():
                    write_text_atomically(self._last_good, text)
                return self._checked(entries, ()), stamp
            time.sleep(AT_REST_S)
            if self._stamp() == stamp:
                return self._recovered(problem, stamp)
        raise StorageError(f"{self._path} is being written all the time, and is not JSON yet.")

    def _recovered(self, problem: str, stamp: _Stamp) -> tuple[StoredJobs, _Stamp]:
        """The last good file in the place of that one. As long as the disk fails, both stay where they are."""
        good, no_good = _entries(self._text(self._last_good) or "")
        used = "there is no earlier one." if no_good is not None else "the last good one is used."
        stored = self._checked(good, (f"jobs.json was damaged ({problem}) and was moved aside; {used}",))
        try:
            with self._lock.held(), disk_errors("move aside", self._path):
                self._copy_aside(problem)
                if no_good is None:
                    self._write(stored.jobs, stored.refused)
                else:
                    self._path.unlink()
            return stored, self._stamp()
        except StorageError as error:
            log.error("%s is damaged (%s) and could not be moved aside: %s", self._path, problem, error)
            return stored, stamp

    def _checked(self, entries: Sequence[Any], problems: Sequence[str]) -> StoredJobs:
        """Validates each entry by itself; those known from the last time are not validated again."""
        jobs: dict[str, Job] = {}
        refused: list[Any] = []
        words = [*problems]
        parsed: dict[str, tuple[Any, Job]] = {}
        for number, entry in enumerate(entries, start=1):
            name = entry.get("id") if isinstance(entry, dict) else None
            known = self._parsed.get(name) if isinstance(name, str) else None
            try:
                job = known[1] if known is not None and known[0] == entry else Job.model_validate(entry)
            except ValidationError as error:
                refused.append(entry)
                words.append(f"jobs.json, job {number} ({_title(entry)}) is left out: {reason_of(error)}")
                continue
            if job.id in jobs:
                refused.append(entry)
                words.append(f"jobs.json, job {number} ({_title(entry)}) is left out: its id is used twice.")
                continue
            jobs[job.id], parsed[job.id] = job, (entry, job)
        for problem in words:
            log.warning("%s", problem)
        self._parsed = parsed
        return StoredJobs(MappingProxyType(jobs), tuple(refused), tuple(words))

    def _copy_aside(self, problem: str) -> None:
        names = (f"{self._path.name}.damaged{number or ''}" for number in range(10_000))
        aside = next(path for path in map(self._path.with_name, names) if not path.exists())
        write_bytes_atomically(aside, self._path.read_bytes())
        log.error("%s is damaged (%s). Moved to %s", self._path, problem, aside)

    def _text(self, path: Path) -> str | None:
        try:
            with disk_errors("read", path):
                return path.read_text("utf-8", errors="replace")
        except StorageError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return None
            raise

    def _stamp(self) -> _Stamp:
        try:
            with disk_errors("read", self._path):
                status = self._path.stat()
        except StorageError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return ()
            raise
        return status.st_ino, status.st_size, status.st_mtime_ns


def _entries(text: str) -> tuple[Sequence[Any], str | None]:
    """The file's entries, or what is wrong with it as a whole."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        return (), f"not JSON: {error}"
    if not isinstance(whole, dict) or not isinstance(whole.get("jobs"), list):
        return (), "there is no list `jobs`"
    if whole.get("schemaVersion", SCHEMA_VERSION) != SCHEMA_VERSION:
        return (), f"its schemaVersion is {whole['schemaVersion']!r}, not {SCHEMA_VERSION}"
    return whole["jobs"], None


def _title(entry: Any) -> str:
    name = (entry.get("name") or entry.get("id")) if isinstance(entry, dict) else None
    return repr(str(name)[:60]) if name else "without a name"
