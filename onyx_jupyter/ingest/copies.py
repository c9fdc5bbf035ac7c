"""The copies of pages and uploads that the knowledge keeps itself."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path, PurePosixPath

from onyx_jupyter.errors import DocumentUnreadable
from onyx_jupyter.ingest.readers import MAX_FILE_BYTES, reader_of
from onyx_jupyter.storage.atomic_swap import leftovers
from onyx_jupyter.storage.atomic_write import make_private_folder, write_bytes_atomically

log = logging.getLogger(__name__)
MAX_UPLOAD_BYTES = MAX_FILE_BYTES
KNOWN_KINDS = "text, Markdown, HTML, PDF, notebooks, CSV, Parquet and source code"
_MAX_NAME_CHARS = 200
_MAX_SUFFIX_CHARS = 20
_NO_TITLE = "Untitled"


class Copies:
    """One file per copy, in `folder`. Every method blocks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, name: str, data: bytes) -> None:
        """Writes a copy; no other writer may run meanwhile. Raises: StorageError."""
        make_private_folder(self.folder)
        for left in leftovers(self.folder):  # from a killed server
            self.remove(left.place.name)
        write_bytes_atomically(self.folder / name, data)

    def remove(self, name: str) -> bool:
        """Deletes a copy. Returns whether it is gone; a failure is logged."""
        try:
            (self.folder / name).unlink(missing_ok=True)
        except OSError as error:
            log.warning("A copy could not be deleted: %s", error)
            return False
        return True


def upload_title(given: str) -> str:
    """The name of an uploaded file, without folders and unprintable characters."""
    last = PurePosixPath(given.replace("\\", "/")).name
    words = "".join(character for character in last if character.isprintable()).strip()
    if len(words) > _MAX_NAME_CHARS:
        suffix = PurePosixPath(words).suffix[:_MAX_SUFFIX_CHARS]
        words = words[: _MAX_NAME_CHARS - len(suffix)] + suffix
    return words if words.strip(".") else _NO_TITLE


def upload_digest(title: str, data: bytes) -> str:
    """Equal only for equal files with equal names. Blocks."""
    digest = hashlib.sha256(title.encode("utf-8", "replace") + b"\0")
    digest.update(data)
    return digest.hexdigest()[:32]


def check_upload(title: str, size_bytes: int) -> None:
    """Raises DocumentUnreadable if the upload is not even kept."""
    if size_bytes > MAX_UPLOAD_BYTES:
        raise DocumentUnreadable(
            f"It is {size_bytes // 1_000_000} MB; uploads are limited to {MAX_UPLOAD_BYTES // 1_000_000} MB. "
            "Put it into the file browser and add it from there."
        )
    if reader_of(title) is None:
        kind = PurePosixPath(title).suffix
        raise DocumentUnreadable(f"Files of type {kind} are not supported. Supported: {KNOWN_KINDS}.")
