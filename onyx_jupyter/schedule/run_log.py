"""`schedule/runs.jsonl`: each planned time as it starts, ends, or is missed. Nothing runs that is not in it first."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from onyx_jupyter.errors import StorageError
from onyx_jupyter.schedule.job_state import JobState, Outcome, moment_of, outcome_of, text_of
from onyx_jupyter.storage.atomic_write import make_private_folder, write_bytes_atomically
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.jsonl import append_lines, encode_line, read_lines

log = logging.getLogger(__name__)
MAX_BYTES = 5_000_000
"""Growth after which a new file begins; one full file is kept."""
MissedBecause = Literal["off", "running", "backoff"]
"""The server or the machine was off or asleep; the job was still running; it rested after a failure."""


@dataclass(frozen=True, slots=True)
class Start:
    """A run about to start; `planned` is None if a person started it."""

    key: str
    job_id: str
    name: str
    planned: datetime | None


@dataclass(frozen=True, slots=True)
class Missed:
    """The planned times in (after, until] that have not run, `count` at least."""

    job_id: str
    after: datetime
    until: datetime
    count: int
    because: MissedBecause


def key_of(job_id: str, planned: datetime) -> str:
    return f"{job_id}@{text_of(planned)}"


class RunLog:
    """Written by one server of a home. For threads, not the event loop.

    The beginning of each file repeats every job's state, so that an old file can go.
    """

    def __init__(self, path: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self._path = path
        self._full = path.with_name(f"{path.stem}.1{path.suffix}")
        self._max_bytes = max_bytes
        self._base_bytes = 0
        self.states: dict[str, JobState] = {}
        self._open: dict[str, dict[str, Any]] = {}

    def load(self) -> Sequence[str]:
        """Reads what is known of each job; returns the keys of runs without an end. Raises: StorageError."""
        self.states.clear()
        self._open.clear()
        for line in _lines_of(self._path):
            self._fold(line)
        return list(self._open)

    def state(self, job_id: str, since: datetime) -> JobState:
        """The state of a job that is responsible for its planned times `since` then."""
        return self.states.setdefault(job_id, JobState(since))

    def started(self, starts: Iterable[Start], at: datetime) -> None:
        """On disk when it returns: only then may the jobs start. Raises: StorageError, and then they must not."""
        lines = []
        for start in starts:
            line = {"kind": "started", "key": start.key, "job": start.job_id, "name": start.name, "at": text_of(at)}
            if start.planned is not None:
                after = self.states[start.job_id].accounted
                line |= {"planned": text_of(start.planned), "from": text_of(min(after, start.planned))}
            lines.append(line)
        self._append(lines)

    def finished(self, key: str, at: datetime, outcome: Outcome, facts: Mapping[str, Any]) -> None:
        """Counts even if it cannot be written: then the next start takes the run for interrupted.

        Raises: StorageError.
        """
        started = self._open.get(key, {})
        line = {"kind": "finished", "key": key, "job": started.get("job"), "at": text_of(at), "outcome": outcome}
        self._append([{**line, **facts}], fold_anyway=True)

    def missed(self, misses: Iterable[Missed], at: datetime) -> None:
        """Raises: StorageError."""
        self._append(
            [
                {
                    "kind": "missed",
                    "job": missed.job_id,
                    "from": text_of(missed.after),
                    "until": text_of(missed.until),
                    "count": missed.count,
                    "because": missed.because,
                    "at": text_of(at),
                }
                for missed in misses
            ]
        )

    def reset(self, job_ids: Iterable[str], at: datetime) -> None:
        """A person changed these jobs; counts until the next start even if it cannot be written.

        Raises: StorageError.
        """
        self._append([{"kind": "reset", "job": job_id, "at": text_of(at)} for job_id in job_ids], fold_anyway=True)

    def history(self, job_id: str | None, limit: int, before: str | None = None) -> Sequence[dict[str, Any]]:
        """Runs and misses, newest first: each run once, with its end if it has one. Raises: StorageError."""
        runs: dict[str, dict[str, Any]] = {}
        for number, line in enumerate(chain(_lines_of(self._full), _lines_of(self._path))):
            if job_id not in (None, line.get("job")):
                continue
            key = str(line.get("key", number))
            match line.get("kind"):
                case "started":
                    runs.setdefault(key, dict(line))  # a new file repeats runs in progress
                case "finished" if key in runs:
                    ended = {name: value for name, value in line.items() if name not in ("kind", "at")}
                    runs[key] |= {**ended, "finishedAt": line["at"]}
                case "missed":
                    runs[key] = dict(line)
        newest = [run for run in reversed(runs.values()) if before is None or str(run.get("at", "")) < before]
        return newest[:limit]

    def _append(self, lines: Sequence[dict[str, Any]], *, fold_anyway: bool = False) -> None:
        if not lines:
            return
        try:
            make_private_folder(self._path.parent)
            append_lines(self._path, lines)
        except StorageError:
            if fold_anyway:
                for line in lines:
                    self._fold(line)
            raise
        for line in lines:
            self._fold(line)
        if self._size() - self._base_bytes > self._max_bytes:
            self._rotate()

    def _rotate(self) -> None:
        """A kill in between leaves the old file with everything in it."""
        states = ({"kind": "state", "job": job_id, **state.to_json()} for job_id, state in self.states.items())
        text = b"".join(encode_line(line) + b"\n" for line in [*states, *self._open.values()])
        try:
            with disk_errors("copy", self._path):
                shutil.copy2(self._path, self._full)
            write_bytes_atomically(self._path, text)
        except StorageError as error:
            log.error("The log of scheduled runs could not begin a new file: %s", error)
        self._base_bytes = self._size()

    def _size(self) -> int:
        with disk_errors("read", self._path):
            return self._path.stat().st_size

    def _fold(self, line: Mapping[str, Any]) -> None:
        """Takes one line into the state; what is no line of ours is left out."""
        job_id = line.get("job")
        if not isinstance(job_id, str):
            return
        try:
            self._fold_line(job_id, line)
        except (KeyError, TypeError, ValueError) as error:
            log.warning("A line of %s is left out: %s", self._path.name, error)

    def _fold_line(self, job_id: str, line: Mapping[str, Any]) -> None:
        if line.get("kind") == "state":
            self.states[job_id] = JobState.from_json(line)
            return
        at = moment_of(line["at"])
        state = self.states.setdefault(job_id, JobState(at))
        match line.get("kind"):
            case "started":
                planned = moment_of(line["planned"]) if "planned" in line else None
                state.begin(planned, moment_of(line.get("from", line["at"])), line["key"], at)
                self._open[line["key"]] = dict(line)
            case "finished":
                state.end(outcome_of(line["outcome"]), at)
                self._open.pop(line["key"], None)
            case "missed":
                state.miss(moment_of(line["until"]), int(line["count"]))
            case "reset":
                state.reset(at)


def _lines_of(path: Path) -> Sequence[dict[str, Any]]:
    try:
        return read_lines(path).objects
    except StorageError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return ()
        raise
