"""One small JSON document that several servers read and change. The caller's model defines its content."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from onyx_jupyter.errors import StorageError
from onyx_jupyter.storage.atomic_write import write_text_atomically
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.shared_lock import SharedLock

log = logging.getLogger(__name__)
D = TypeVar("D", bound=BaseModel)


class SharedDocument(Generic[D]):
    """Read again if the file has changed, and replaced as a whole. For threads, not the event loop.

    `empty` is used for a missing file and for a damaged one: `if_damaged` describes the consequence in the log.
    """

    def __init__(self, path: Path, empty: D, *, if_damaged: str) -> None:
        self._path = path
        self._empty = empty
        self._if_damaged = if_damaged
        self._lock = SharedLock(path)
        self._seen: tuple[int, ...] | None = None
        self._document = empty

    def read(self) -> D:
        """Raises: StorageError if the file exists but can't be read."""
        with self._lock.threads:
            return self._read()

    def change(self, change: Callable[[D], D]) -> None:
        """Changes the current document, on disk on return. Raises: StorageError."""
        with self._lock.held():
            text = change(self._read()).model_dump_json(by_alias=True, indent=2)
            write_text_atomically(self._path, f"{text}\n")

    def _read(self) -> D:
        try:
            with disk_errors("read", self._path):
                status = self._path.stat()
                seen = (status.st_ino, status.st_size, status.st_mtime_ns)
                if seen != self._seen:
                    self._document = self._parse(self._path.read_bytes())
                    self._seen = seen
        except StorageError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
            self._document, self._seen = self._empty, None
        return self._document

    def _parse(self, text: bytes) -> D:
        try:
            return type(self._empty).model_validate_json(text)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_context=False, include_input=False)[0]["msg"]
            log.error("%s is damaged (%s): %s", self._path, problem, self._if_damaged)
            return self._empty
