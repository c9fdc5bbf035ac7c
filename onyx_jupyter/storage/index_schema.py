"""The columns of the search index.

chunk                 one row per chunk, and one without text for a source that has none
├── id                64 hex digits of source, checksum, chunking, position and text: equal for equal chunks
├── source            32 hex digits of agent and path: its rows are replaced together in one commit
├── kind              memory | shared | session | document | fact
├── agent             the owner; "" for what all agents share
├── path              the owner's name for the source
├── checksum          of the whole source, as given by its owner; the same in all of a source's rows
├── chunking          fingerprint of how it was cut; if it differs from today's, the source has to be cut again
├── position          0, 1, … within the source; every source has a row 0
├── day               for content that ages; null for what stays true
├── heading           path of headings above the chunk
├── start_line        first line in the source, from 1; end_line: last one, included
├── parent_start      first line returned instead of the chunk's, null if it has no parent; parent_end: the last one
├── text              context, text, what was said before and `apart` (index_rows.py), concatenated: searched by
│                     words; only context and text are embedded
├── blank             context and text are white space or empty: there is no vector, and none is needed
├── context_chars     length of the context and the line break after it, within `text`
├── text_chars        length of the chunk's own text within `text`
├── before_chars      length of what was said before, after a line break, within `text`; `apart` follows
└── vector            float32, L2-normalised; null if no embedder was there; no such column in a table without one

embedding_cache       one row per vector
├── key               `vector_key`: of identity, purpose and text
├── vector            float32, little-endian bytes, so that one table can hold several dimensions
└── made_us           microseconds since 1970; the oldest are dropped first
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

# Columns that a search returns, plus the vector if the table has one.
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
    """The schema of a table for vectors of that dimension; None: for words only."""
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
    """The schema of the embedding cache."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("key", pa.string(), nullable=False),
            pa.field("vector", pa.binary(), nullable=False),
            pa.field("made_us", pa.int64(), nullable=False),
        ]
    )
