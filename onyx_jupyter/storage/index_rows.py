"""Converts sources to rows of the index, and rows to candidates."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onyx_jupyter.protocols.retrieval import Candidate, Chunk, Source
from onyx_jupyter.storage.index_schema import chunk_schema

if TYPE_CHECKING:
    import pyarrow as pa

    from onyx_jupyter.protocols.retrieval import Vectors

_NAME_DIGITS = 32
_HANGUL = re.compile("[\uac00-\ud7a3]{3,}")
# Arrow stores UTF-8, which has no lone surrogates; names and texts may. A private-use character marks one.
_MARK = "\U0010fffd"
_MOVED = 0x100000
_TO_STORE = {ord(_MARK): _MARK * 2} | {code: _MARK + chr(code + _MOVED) for code in range(0xD800, 0xE000)}
_MARKED = re.compile(f"{_MARK}(.)")


def source_key(agent: str, path: str) -> str:
    """The key shared by all rows of a source: hex digits, whatever its name contains."""
    return hashlib.sha256(json.dumps([agent, path]).encode()).hexdigest()[:_NAME_DIGITS]


def stored_text(text: str) -> str:
    """The text made encodable as UTF-8; `original_text` restores it exactly."""
    return text if text.isascii() else text.translate(_TO_STORE)


def original_text(text: str) -> str:
    return _MARKED.sub(lambda marked: _unmarked(marked[1]), text) if _MARK in text else text


def searched_words(text: str) -> str:
    """`text`, followed by what the tokenizer does not split: Korean words as pairs of syllables.

    Korean particles are attached to words, and only spaces separate words: without the pairs, a word is found only with
    the same particle.
    """
    pairs = {run[place : place + 2] for run in _HANGUL.findall(text) for place in range(len(run) - 1)}
    return "\n".join([text, *sorted(pairs)])


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A row without its vector; `embedded` is the text to embed, blank if there is none."""

    columns: dict[str, Any]
    embedded: str


def rows_of(source: Source, chunking: str) -> Iterator[ChunkRow]:
    """The source's rows: at least one, so that a source without chunks is known as well."""
    chunks = source.chunks or (Chunk("", 1, 1),)
    for position, chunk in enumerate(chunks):
        context = f"{chunk.context}\n" if chunk.context else ""
        embedded = context + chunk.text
        key = source_key(source.agent, source.path)
        parent_start, parent_end = chunk.parent or (None, None)
        named = json.dumps([key, source.checksum, chunking, position, embedded, chunk.before])
        columns = {
            "id": hashlib.sha256(named.encode()).hexdigest(),
            "source": key,
            "kind": source.kind,
            "agent": stored_text(source.agent),
            "path": stored_text(source.path),
            "checksum": stored_text(source.checksum),
            "chunking": chunking,
            "position": position,
            "day": source.day,
            "heading": stored_text(chunk.heading),
            "start_line": chunk.start_line,
            "end_line": chunk.end_line,
            "parent_start": parent_start,
            "parent_end": parent_end,
            "text": stored_text(searched_words(f"{embedded}\n{chunk.before}" if chunk.before else embedded)),
            "blank": not embedded.strip(),
            "context_chars": len(context),
            "text_chars": len(chunk.text),
            "before_chars": len(chunk.before),
        }
        yield ChunkRow(columns, embedded)


def _unmarked(character: str) -> str:
    return _MARK if character == _MARK else chr(ord(character) - _MOVED)


def embedded_text(columns: dict[str, Any]) -> str:
    """The text from which a stored row's vector is made."""
    return original_text(columns["text"])[: columns["context_chars"] + columns["text_chars"]]


def as_table(rows: Sequence[dict[str, Any]], vectors: Sequence[Vectors | None], dimension: int | None) -> pa.Table:
    """The rows with their vectors, for a table of that dimension; None: a table for words only."""
    import pyarrow as pa

    schema = chunk_schema(dimension)
    if dimension is None:
        return pa.Table.from_pylist(list(rows), schema=schema)
    plain = pa.Table.from_pylist(list(rows), schema=schema.remove(schema.get_field_index("vector")))
    return plain.append_column(schema.field("vector"), pa.array(list(vectors), schema.field("vector").type))


def candidate(columns: dict[str, Any], similarity: float | None, words: float | None) -> Candidate:
    """The candidate for a row; each part is as its owner put it."""
    text, begins = original_text(columns["text"]), columns["context_chars"]
    ends = begins + columns["text_chars"]
    parent = (columns["parent_start"], columns["parent_end"]) if columns["parent_start"] is not None else None
    chunk = Chunk(
        text=text[begins:ends],
        start_line=columns["start_line"],
        end_line=columns["end_line"],
        heading=original_text(columns["heading"]),
        context=text[: max(begins - 1, 0)],
        before=text[ends + 1 :][: columns["before_chars"]],
        parent=parent,
    )
    return Candidate(
        kind=columns["kind"],
        agent=original_text(columns["agent"]),
        path=original_text(columns["path"]),
        chunk=chunk,
        day=columns["day"],
        vector=columns.get("vector"),
        similarity=similarity,
        words=words,
    )
