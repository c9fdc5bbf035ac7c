"""Caches the texts of documents as read: to show a passage in full, and to search them while there is no index.

All of it can be recreated.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from onyx_jupyter.memory.word_search import search_words
from onyx_jupyter.protocols.retrieval import Found, SearchFilter
from onyx_jupyter.storage.atomic_write import make_private_folder, write_bytes_atomically

log = logging.getLogger(__name__)
MAX_SEARCHED_CHARS = 20_000_000
_QUICK = 1  # gzip's level: texts are many, and seldom read


class DocumentTexts:
    """One compressed file per document, in `folder`. Every method blocks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, name: str, text: str) -> None:
        """Raises: StorageError."""
        make_private_folder(self._folder)
        write_bytes_atomically(self._place(name), gzip.compress(text.encode(), _QUICK))

    def lines(self, name: str, first: int, last: int) -> str | None:
        """Those lines, counted from 1; None if the text is missing or unreadable."""
        text = self.text(name)
        return None if text is None else "\n".join(text.split("\n")[first - 1 : last]) or None

    def text(self, name: str) -> str | None:
        """The whole text; None if it is missing or unreadable."""
        try:
            return gzip.decompress(self._place(name).read_bytes()).decode()
        except (OSError, EOFError, zlib.error, UnicodeDecodeError):
            return None

    def search(self, names: Sequence[str], query: str, only: SearchFilter, limit: int) -> list[Found]:
        """Passages that contain the words, best first; after `MAX_SEARCHED_CHARS`, no more texts are searched."""
        read: dict[str, str] = {}
        chars = 0
        for name in names:
            may_be_found = only.paths is None or name.startswith(tuple(only.paths))
            text = self.text(name) if may_be_found and chars < MAX_SEARCHED_CHARS else None
            if text is not None:
                read[name] = text
                chars += len(text)
        return [
            Found(
                kind="document",
                agent="",
                path=passage.path,
                start_line=passage.start_line,
                end_line=passage.end_line,
                heading=passage.heading,
                snippet=passage.snippet,
                score=passage.score,
                text_score=passage.score,
            )
            for passage in search_words(read, query, limit)
        ]

    def has(self, name: str) -> bool:
        return self._place(name).exists()

    def remove(self, names: Iterable[str]) -> None:
        """Removes texts. One that can't be removed stays: it is never shown without the index."""
        for name in names:
            try:
                self._place(name).unlink(missing_ok=True)
            except OSError as error:
                log.warning("A cached text could not be deleted: %s", error)

    def _place(self, name: str) -> Path:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / f"{digest[:40]}.txt.gz"
