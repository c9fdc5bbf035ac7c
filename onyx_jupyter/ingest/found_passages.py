"""Turns search results into the passages to show: with page or cell, and the whole passage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

from onyx_jupyter.ingest.document import NOWHERE
from onyx_jupyter.ingest.document_chunking import place_and_heading
from onyx_jupyter.ingest.readers import reader_of
from onyx_jupyter.ingest.text_cache import DocumentTexts
from onyx_jupyter.protocols.knowledge import KnowledgePassage
from onyx_jupyter.protocols.retrieval import Found

MAX_PASSAGE_CHARS = 6_000
_OWN_LINES = ("text", "Markdown", "code")


def passages(
    found: Sequence[Found], titles: Mapping[str, str], texts: DocumentTexts, shown: Callable[[str], str]
) -> list[KnowledgePassage]:
    """Blocks. If a text is not available, its snippet is used instead."""
    return [_passage(one, titles.get(one.path, ""), texts, shown) for one in found]


def _passage(found: Found, title: str, texts: DocumentTexts, shown: Callable[[str], str]) -> KnowledgePassage:
    place, heading = place_and_heading(found.heading)
    path = shown(found.path)
    has_lines = place is None and _has_own_lines(found.path)
    text = texts.lines(found.path, found.start_line, found.end_line) or ""
    return KnowledgePassage(
        path=path,
        title=title or PurePosixPath(path).name or path,
        heading=heading,
        score=found.score,
        snippet=found.snippet,
        text=text if 0 < len(text) <= MAX_PASSAGE_CHARS else found.snippet,
        start_line=found.start_line if has_lines else None,
        end_line=found.end_line if has_lines else None,
        page=(place or NOWHERE).page,
        cell=(place or NOWHERE).cell,
        cell_id=(place or NOWHERE).cell_id,
    )


def _has_own_lines(name: str) -> bool:
    """Whether these line numbers are those of the file itself."""
    if "://" in name:
        return False
    reader = reader_of(PurePosixPath(name).name)
    return reader is None or reader.kind in _OWN_LINES
