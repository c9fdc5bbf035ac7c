"""`schedule/runs.jsonl`: each planned time as it starts, ends, or is missed. Nothing runs that is not in it first."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
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

    The beginning of each file repeats every job's state, so that an old file can go. That of a job that is gone goes
    with the first file without a line of it: a job that comes back soon, as from a file that was away for a moment,
    still knows what has run.
    """

    def __init__(self, path: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self._path = path
        self._full = path.with_name(f"{path.stem}.1{path.suffix}")
        self._max_bytes = max_bytes
        self._base_bytes = 0
        self.states: dict[str, JobState] = {}
        self._open: dict[str, dict[str, Any]] = {}
        self._known: Collection[str] | None = None
        self._has_line: set[str] = set()

    def load(self) -> Sequence[str]:
        """Reads what is known of each job; returns the keys of runs without an end. Raises: StorageError."""
        self.states.clear()
        self._open.clear()
        self._has_line.clear()
        for line in _lines_of(self._path):
            self._fold(line)
        return list(self._open)

    def state(self, job_id: str, since: datetime) -> JobState:
        """The state of a job that is responsible for its planned times `since` then."""
        state = self.states.get(job_id)
        if state is None:
            state = self.states[job_id] = JobState(since)
        return state

    def keep(self, job_ids: Collection[str]) -> None:
        """These jobs exist."""
        self._known = job_ids

    def started(self, starts: Iterable[Start], at: datetime) -> None:
        """On disk when it returns: only then may the jobs start. Raises: StorageError, and then they must not."""
        lines = []
        for start in starts:
            line = {"kind": "started", "key": start.key, "job": start.job_id, "name": start.name, "at": text_of(at)}
            after = self.state(start.job_id, at).accounted
            if start.planned is not None:
                line |= {"planned": text_of(start.planned)}
                after = min(after, start.planned)
            lines.append({**line, "from": text_of(after)})
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

    def history(
        self, job_id: str | None, limit: int, before: str | None = None, since: datetime | None = None
    ) -> Sequence[dict[str, Any]]:
        """Runs and misses, newest first: each run once, with its end if it has one. Raises: StorageError.

        `before` is the `at` of the last one known. Those of one moment come together, even if they are a few more.
        `since`: only those that ended, or were missed, at that moment or later.
        """
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
        newest = list(reversed(runs.values()))
        if since is not None:
            newest = [run for run in newest if (end := _ended_at(run)) is not None and end >= since]
        return _page(newest, limit, before)

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
        try:
            if self._size() - self._base_bytes > self._max_bytes:
                self._rotate()
        except StorageError as error:  # the lines are written
            log.error("The log of scheduled runs could not begin a new file: %s", error)

    def _rotate(self) -> None:
        """A kill in between leaves the old file with everything in it. Raises: StorageError."""
        for job_id in [one for one in self.states if self._is_over(one)]:
            del self.states[job_id]
        self._has_line.clear()
        states = ({"kind": "state", "job": job_id, **state.to_json()} for job_id, state in self.states.items())
        text = b"".join(encode_line(line) + b"\n" for line in [*states, *self._open.values()])
        try:
            with disk_errors("read", self._path):
                whole = self._path.read_bytes()
            write_bytes_atomically(self._full, whole)
            write_bytes_atomically(self._path, text)
        finally:
            self._base_bytes = self._size()

    def _is_over(self, job_id: str) -> bool:
        """Whether the job is gone, and the full file says nothing new of it."""
        is_gone = self._known is not None and job_id not in self._known
        return is_gone and job_id not in self._has_line and self.states[job_id].running is None

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
        self._has_line.add(job_id)
        at = moment_of(line["at"])
        after = moment_of(line.get("from", line["at"]))
        state = self.states.setdefault(job_id, JobState(after))
        match line.get("kind"):
            case "started":
                planned = moment_of(line["planned"]) if "planned" in line else None
                state.begin(planned, after, line["key"], at)
                self._open[line["key"]] = dict(line)
            case "finished":
                state.end(outcome_of(line["outcome"]), at)
                self._open.pop(line["key"], None)
            case "missed":
                state.miss(moment_of(line["until"]), int(line["count"]))
            case "reset":
                state.reset(at)


def _ended_at(run: Mapping[str, Any]) -> datetime | None:
    """None while it goes on, and where the file holds no time."""
    try:
        return moment_of(str(run.get("finishedAt") if run.get("kind") == "started" else run.get("at")))
    except ValueError:
        return None


def _page(newest: Sequence[dict[str, Any]], limit: int, before: str | None) -> Sequence[dict[str, Any]]:
    """By place and not by time, since the clock may have been set back."""
    moments = [str(one.get("at", "")) for one in newest]
    start = 0
    if before is not None:
        last = next((place for place in reversed(range(len(moments))) if moments[place] == before), None)
        start = len([at for at in moments if at >= before]) if last is None else last + 1
    end = min(start + limit, len(newest))
    while 0 < end < len(newest) and moments[end] == moments[end - 1]:
        end += 1
    return newest[start:end]


def _lines_of(path: Path) -> Sequence[dict[str, Any]]:
    try:
        return read_lines(path).objects
    except StorageError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return ()
        raise
