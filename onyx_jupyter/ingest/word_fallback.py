"""Searches the kept texts of documents by words, if the index is unavailable."""

from __future__ import annotations

from collections.abc import Sequence

from onyx_jupyter.ingest.text_cache import DocumentTexts
from onyx_jupyter.memory.word_search import search_words
from onyx_jupyter.protocols.retrieval import Found, SearchFilter

MAX_CHARS = 20_000_000


def found_by_words(
    names: Sequence[str], texts: DocumentTexts, query: str, only: SearchFilter, limit: int
) -> list[Found]:
    """Best first. Blocks; after `MAX_CHARS` of text, no more documents are searched."""
    read: dict[str, str] = {}
    chars = 0
    for name in names:
        may_be_found = only.paths is None or name.startswith(tuple(only.paths))
        text = texts.text(name) if may_be_found and chars < MAX_CHARS else None
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
