"""What a local model had read when its process ended, kept as a file that the next start loads.

The file contains prompts: it is private to its owner, holds one prompt per model, and is deleted after a day or once
it was loaded. If it belongs to another model, context or runtime, or was changed since, it is removed unread: the
runtime crashes on a truncated file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from datetime import datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from onyx_jupyter.clock import Clock, timestamp
from onyx_jupyter.errors import StorageError
from onyx_jupyter.providers.local_weights import Weights
from onyx_jupyter.storage.atomic_write import make_private_folder, write_text_atomically
from onyx_jupyter.storage.disk_errors import disk_errors

SCHEMA_VERSION = 1
# A prompt contains the date, so yesterday's would be read again anyway.
_LONGEST_KEPT = timedelta(days=1)
_MAX_BYTES = 128 * 2**20
_MAX_TOTAL_BYTES = 256 * 2**20
_HEAD_BYTES = 2**20


class SavedPrompt:
    """The file of one model. Its methods read and hash up to 128 MiB, so call them in a thread."""

    def __init__(self, folder: Path, weights: Weights, clock: Clock) -> None:
        self.folder = folder
        self._weights = weights
        self._clock = clock
        self._key = ""

    @property
    def is_ready(self) -> bool:
        """Whether the other methods may be called: `prepare` has finished."""
        return bool(self._key)

    def prepare(self) -> None:
        """Prepares for a process that is about to start: makes the folder, and removes old and excess files.

        Raises: StorageError.
        """
        self._key = ""
        make_private_folder(self.folder)
        self._prune()
        with disk_errors("read", self._weights.path):
            self._key = _key_of(self._weights)

    def take(self) -> str | None:
        """Claims a valid file, so that no other start takes it; returns its name in the folder. Then call `drop`."""
        state, about = self._path("state"), self._path("json")
        taken = self.folder / self._name_of("taken")
        try:
            state.rename(taken)
            facts = json.loads(about.read_text("utf-8"))
            known = facts["schemaVersion"] == SCHEMA_VERSION and facts["sha256"] == _hash_of(taken)
            fresh = self._clock.now() - datetime.fromisoformat(facts["savedAt"]) <= _LONGEST_KEPT
        except (OSError, ValueError, KeyError, TypeError):
            known = fresh = False
        with contextlib.suppress(OSError):
            about.unlink()
        if known and fresh:
            return taken.name
        self.drop()
        return None

    def drop(self) -> None:
        """Deletes the claimed file."""
        with contextlib.suppress(OSError):
            (self.folder / self._name_of("taken")).unlink()

    @property
    def part_name(self) -> str:
        """The name under which the process writes the file."""
        return self._name_of("part")

    def keep(self) -> None:
        """Renames the written file, replacing the previous one. Raises: StorageError."""
        part = self.folder / self.part_name
        try:
            if part.stat().st_size > _MAX_BYTES:
                part.unlink()
                return
            part.chmod(0o600)
            digest = _hash_of(part)
            part.replace(self._path("state"))
        except OSError as error:
            part.unlink(missing_ok=True)
            raise StorageError(f"The prompt state of {self._weights.name} could not be saved: {error}") from error
        facts = {"schemaVersion": SCHEMA_VERSION, "sha256": digest, "savedAt": timestamp(self._clock.now())}
        write_text_atomically(self._path("json"), json.dumps(facts) + "\n")
        self._prune()

    def _prune(self) -> None:
        """By modification time: files of other versions, other contexts or killed processes are removed as well."""
        oldest = self._clock.now().timestamp() - _LONGEST_KEPT.total_seconds()
        total = 0
        with contextlib.suppress(OSError):
            found = [(entry.stat(), Path(entry.path)) for entry in os.scandir(self.folder) if entry.is_file()]
            for stat, path in sorted(found, key=lambda one: one[0].st_mtime, reverse=True):
                total += stat.st_size
                if stat.st_mtime < oldest or total > _MAX_TOTAL_BYTES:
                    path.unlink(missing_ok=True)

    def _path(self, ending: str) -> Path:
        return self.folder / f"{self._key}.{ending}"

    def _name_of(self, ending: str) -> str:
        """The name of a file of this process alone: two servers may share the folder."""
        return f"{self._key}-{os.getpid()}.{ending}"


def _key_of(weights: Weights) -> str:
    """Identifies the model, its context and the runtime.

    To avoid hashing a gigabyte at each start, the model is identified by its head, which describes every tensor, its
    size and its modification time.
    """
    stat = weights.path.stat()
    with weights.path.open("rb") as file:
        head = hashlib.sha256(file.read(_HEAD_BYTES)).hexdigest()
    parts = [str(SCHEMA_VERSION), head, stat.st_size, stat.st_mtime_ns, weights.context_tokens, _runtime()]
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:32]


def _runtime() -> str:
    try:
        return version("xllamacpp")
    except PackageNotFoundError:
        return ""


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
