"""The texts of documents as they were read, so that a passage can be shown as a whole. All of it can be made again."""

from __future__ import annotations

import gzip
import hashlib
import logging
import zlib
from collections.abc import Iterable
from pathlib import Path

from onyx_jupyter.storage.atomic_write import make_private_folder, write_bytes_atomically

log = logging.getLogger(__name__)
_QUICK = 1  # gzip's level: the texts are many, and seldom read


class DocumentTexts:
    """One compressed file a document, in `folder`. Each call blocks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, name: str, text: str) -> None:
        """Raises: StorageError."""
        make_private_folder(self._folder)
        write_bytes_atomically(self._place(name), gzip.compress(text.encode(), _QUICK))

    def lines(self, name: str, first: int, last: int) -> str | None:
        """Those lines, counted from 1; None where the text is not there or cannot be read."""
        text = self.text(name)
        return None if text is None else "\n".join(text.split("\n")[first - 1 : last]) or None

    def text(self, name: str) -> str | None:
        """All of it; None where it is not there or cannot be read."""
        try:
            return gzip.decompress(self._place(name).read_bytes()).decode()
        except (OSError, EOFError, zlib.error, UnicodeDecodeError):
            return None

    def has(self, name: str) -> bool:
        return self._place(name).exists()

    def remove(self, names: Iterable[str]) -> None:
        """What cannot be removed is left: it is never shown without the index."""
        for name in names:
            try:
                self._place(name).unlink(missing_ok=True)
            except OSError as error:
                log.warning("A kept text could not be removed: %s", error)

    def _place(self, name: str) -> Path:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / f"{digest[:40]}.txt.gz"
