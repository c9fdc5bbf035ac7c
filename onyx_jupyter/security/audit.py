"""The audit file: one hash-chained line for each action, decision or refusal. It never deletes a line.

A small file beside it records the newest line, so that lines removed from the end are noticed, too. Someone who can
write both files can forge the history; any lesser change is detected.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onyx_jupyter.clock import Clock, timestamp
from onyx_jupyter.errors import StorageError
from onyx_jupyter.security.audit_chain import HEAD_LOST, Broken, Head, chained, last_entry, torn_facts, walk
from onyx_jupyter.storage.atomic_write import PRIVATE_FILE
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.jsonl import append_line
from onyx_jupyter.storage.shared_lock import SharedLock

log = logging.getLogger(__name__)
TRUST_S = 600.0


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of a check: how many entries are unchanged, and the first line that is not."""

    entries: int
    broken: Broken | None = None

    @property
    def ok(self) -> bool:
        return self.broken is None


class AuditLog:
    """Entries in the order they were made, on disk before `write` returns; servers that share a home take turns."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._head_path = path.with_suffix(".head")
        self._lock = SharedLock(path)
        self._head = Head()
        self._checked: tuple[tuple[int, ...], float, Head, Verified] | None = None

    async def write(self, event: str, facts: Mapping[str, Any]) -> None:
        """Appends one entry, even if it is cancelled. Raises: StorageError."""
        writing = asyncio.ensure_future(asyncio.to_thread(self.append, event, facts))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait([writing])
            raise

    def append(self, event: str, facts: Mapping[str, Any]) -> None:
        """`write` for a caller on its own thread."""
        with self._lock.held():
            for item in [*self._repairs(), {"event": event, **facts}]:
                self._append(item)

    async def verify(self) -> Verified:
        """Checks every line. Raises: StorageError if the file cannot be read."""
        return await asyncio.to_thread(self._verify)

    async def check(self) -> Verified:
        """For frequent use: after a check in the last ten minutes, reads only newer lines, if the file only grew."""
        return await asyncio.to_thread(self._check)

    # ── writing ─────────────────────────────────────────────────────────────────────────────────────

    def _append(self, facts: Mapping[str, Any]) -> None:
        head = self._head
        item = chained({"ts": timestamp(self._clock.now()), **facts}, head)
        append_line(self._path, item)
        with disk_errors("read", self._path):
            size = self._path.stat().st_size
        self._head = Head(head.number + 1, item["hash"], size, head.lines + 1)
        self._keep_head()

    def _repairs(self) -> list[Mapping[str, Any]]:
        """Finds the entry to continue from; returns the entries to write first, about the state of the file."""
        raw, kept = self._read_after_head()
        if kept is None:
            self._head = last_entry(raw)
            return [{"event": HEAD_LOST}]
        self._head = kept
        if kept == Head() and not raw:
            return [{"event": "begin", "chain": secrets.token_hex(16)}]
        piece = raw.rpartition(b"\n")[2]
        for step in walk(raw.removesuffix(piece), kept):
            if isinstance(step, Broken):
                return []  # the break stays in the file for every later check to find
            self._head = step
        if not piece:
            return []
        self._head = Head(self._head.number, self._head.hash, self._head.size_bytes, self._head.lines + 1)
        return [torn_facts(piece)]

    def _read_after_head(self) -> tuple[bytes, Head | None]:
        """The bytes after the newest recorded entry (all, if none is recorded), and that entry."""
        kept = self._kept_head()
        if kept is None:
            return self._read(0), None
        return (b"" if self._size() <= kept.size_bytes else self._read(kept.size_bytes)), kept

    def _keep_head(self) -> None:
        """Written in place: the line before it is fsynced, so after a kill the record may lag behind but never lead."""
        head = self._head
        text = f"{head.number:012d} {head.hash} {head.size_bytes:015d} {head.lines:012d}\n".encode()
        try:
            is_new = not self._head_path.exists()
            descriptor = os.open(self._head_path, os.O_WRONLY | os.O_CREAT, PRIVATE_FILE)
            try:
                os.write(descriptor, text)
                if is_new:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            log.warning("%s could not be written: %s", self._head_path, error)

    def _kept_head(self) -> Head | None:
        """None if the record is missing or unreadable. What this server itself wrote last is remembered as well."""
        try:
            number, entry_hash, size, lines = self._head_path.read_text("ascii").split()
            kept: Head | None = Head(int(number), entry_hash, int(size), int(lines))
        except FileNotFoundError:
            kept = None if self._size() else Head()
        except ValueError:
            kept = None
        except OSError as error:
            raise StorageError(f"Could not read {self._head_path}: {error.strerror}") from error
        return self._head if self._head.number > (kept.number if kept else 0) else kept

    # ── checking ────────────────────────────────────────────────────────────────────────────────────

    def _verify(self) -> Verified:
        with self._lock.held():
            raw, kept, version = self._read(0), self._kept_head(), self._version()
        head, verified = _walked(raw, Head(), kept)
        self._checked = (version, self._clock.monotonic(), head, verified)
        return verified

    def _check(self) -> Verified:
        if self._checked is None:
            return self._verify()
        version, at, head, verified = self._checked
        with self._lock.held():
            now, kept = self._version(), self._kept_head()
            if now == version and kept is not None:
                return verified
            is_old = self._clock.monotonic() - at > TRUST_S
            if is_old or verified.broken is not None or now[0] <= version[0]:
                return self._verify()
            raw = self._read(head.size_bytes)
        head, verified = _walked(raw, head, kept)
        if verified.broken is not None:
            return self._verify()  # only the whole file shows which line is the first
        self._checked = (now, at, head, verified)
        return verified

    def _version(self) -> tuple[int, ...]:
        with disk_errors("read", self._path):
            try:
                status = self._path.stat()
            except FileNotFoundError:
                return (0,)
            return status.st_size, status.st_mtime_ns, status.st_ino

    def _size(self) -> int:
        return self._version()[0]

    def _read(self, start: int) -> bytes:
        with disk_errors("read", self._path):
            if not self._path.exists():
                return b""
            with self._path.open("rb") as file:
                file.seek(start)
                return file.read()


def _walked(raw: bytes, head: Head, kept: Head | None) -> tuple[Head, Verified]:
    """Walks every entry after `head`, and checks that the last is the recorded newest one."""
    hash_of_kept = head.hash if kept is not None and kept.number == head.number else None
    for step in walk(raw, head):
        if isinstance(step, Broken):
            return head, Verified(head.number, step)
        head = step
        if kept is not None and kept.number == head.number:
            hash_of_kept = head.hash
    if kept is None:
        return head, Verified(head.number, Broken(head.lines + 1, "lines from here on may have been removed"))
    if kept.number > head.number:
        return head, Verified(head.number, Broken(head.lines + 1, "lines from here on were removed"))
    if hash_of_kept not in (None, kept.hash):
        return head, Verified(
            head.number, Broken(head.lines, "the lines up to here are not the ones originally written")
        )
    return head, Verified(head.number)
