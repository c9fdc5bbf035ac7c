"""What each column of the search index holds. It never reads or writes a table.

chunk                 one row a chunk, and one without text for a source that has none
├── id                64 hex digits of source, checksum, chunking, position and text: the same chunk has the same
├── source            32 hex digits of agent and path: what is replaced together in one commit
├── kind              memory | shared | session | document | fact
├── agent             whose it is; "" is what all agents share
├── path              what the owner calls the source
├── checksum          of the whole source, as its owner gave it; the same in all of a source's rows
├── chunking          fingerprint of how it was cut; another one than today's means that it has to be cut again
├── position          0, 1, … within the source; every source has a row 0
├── day               of what grows old; null for what stays true
├── heading           path of headings above the chunk
├── start_line        first line in the source, from 1; end_line: last one, included
├── parent_start      lines that are returned in its place, null where it stands for itself; parent_end likewise
├── text              context, text, what was said before and `apart` (index_rows.py) behind each other: what is
│                     searched by words; context and text alone are embedded
├── blank             context and text are white space or nothing: there is no vector and need be none
├── context_chars     how much of `text` is the context and the line break behind it
├── text_chars        how much of `text` is the chunk's own text
├── before_chars      how much of `text`, behind a line break, is what was said before; what follows is `apart`
└── vector            float32, L2-normalised; null where no embedder was there; no such column in a table without one

embedding_cache       one row a vector that was made
├── key               `vector_key`: of identity, purpose and text
├── vector            float32, little-endian bytes: tables of several dimensions would be one too many
└── made_us           microseconds since 1970, by which the oldest go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

# Columns that a search brings back; the vector comes with them where the table has one.
FOUND_COLUMNS = (
    "kind",
    "agent",
    "path",
    "day",
    "heading",
    "start_line",
    "end_line",
    "parent_start",
    "parent_end",
    "text",
    "context_chars",
    "text_chars",
    "before_chars",
)


def chunk_schema(dimension: int | None) -> pa.Schema:
    """Of a table for vectors of that dimension; None: for words alone."""
    import pyarrow as pa

    fields = [
        pa.field("id", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("agent", pa.string(), nullable=False),
        pa.field("path", pa.string(), nullable=False),
        pa.field("checksum", pa.string(), nullable=False),
        pa.field("chunking", pa.string(), nullable=False),
        pa.field("position", pa.int32(), nullable=False),
        pa.field("day", pa.date32()),
        pa.field("heading", pa.string(), nullable=False),
        pa.field("start_line", pa.int32(), nullable=False),
        pa.field("end_line", pa.int32(), nullable=False),
        pa.field("parent_start", pa.int32()),
        pa.field("parent_end", pa.int32()),
        pa.field("text", pa.string(), nullable=False),
        pa.field("blank", pa.bool_(), nullable=False),
        pa.field("context_chars", pa.int32(), nullable=False),
        pa.field("text_chars", pa.int32(), nullable=False),
        pa.field("before_chars", pa.int32(), nullable=False),
    ]
    if dimension is not None:
        fields.append(pa.field("vector", pa.list_(pa.float32(), dimension)))
    return pa.schema(fields)


def cache_schema() -> pa.Schema:
    """Of the embedding cache."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("key", pa.string(), nullable=False),
            pa.field("vector", pa.binary(), nullable=False),
            pa.field("made_us", pa.int64(), nullable=False),
        ]
    )
