"""Holds the vectors of a small table in memory, for fast and exact nearest-neighbour search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from onyx_jupyter.protocols.retrieval import SearchFilter
from onyx_jupyter.storage.index_rows import stored_text
from onyx_jupyter.storage.lance import ROW_ID

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from onyx_jupyter.protocols.retrieval import Vectors
    from onyx_jupyter.storage.lance import Rows

# The memory limit for one table's vectors: 20,833 of MiniLM's 384 numbers.
MATRIX_BYTES = 32_000_000
# The columns of a matrix, besides the row ids and vectors.
MATRIX_COLUMNS = ("agent", "kind", "path", "day")
# Spare room: this much (1,024 rows of 384 numbers) or this share of the existing rows, whichever is more; it takes no
# memory until it is used.
_MIN_SPARE_BYTES = 1_572_864
_SPARE_PERCENT = 12
_NO_DAY = -(2**31)


def fits(rows: int, dimension: int, most_bytes: int = MATRIX_BYTES) -> bool:
    """Whether that many vectors are held in memory."""
    return 4 * rows * dimension <= most_bytes


@dataclass(slots=True)
class _Room:
    """float32 (capacity in rows, dimension); the first `used` rows are written, and never written again."""

    vectors: Vectors
    used: int


@dataclass(frozen=True, slots=True)
class VectorMatrix:
    """All rows of one version of a table, in the order of their ids.

    Rows without a vector, or deleted since an earlier version whose matrix may share this one's room, are known but
    never found. `row_ids` are uint64, `vectors` float32 (rows, dimension) as stored, `scales` one over their lengths,
    or 0 for rows that must not be found, `days` are counted from 1970.
    """

    row_ids: NDArray[np.uint64]
    room: _Room
    scales: NDArray[np.float32]
    agents: TextColumn
    kinds: TextColumn
    paths: TextColumn
    days: NDArray[np.int32]

    @property
    def vectors(self) -> Vectors:
        return self.room.vectors[: len(self.row_ids)]

    def nearest(self, vector: Vectors, count: int, only: SearchFilter) -> list[int]:
        """The row ids of at most `count` rows, nearest by cosine first."""
        import numpy as np

        allowed = self._allowed(only)
        # Not with `@`: BLAS would wake its threads, which wait by spinning, and cost twenty times as much on a busy
        # machine.
        products = np.einsum("ij,j->i", self.vectors, np.asarray(vector, np.float32))
        cosines = products[allowed] * self.scales[allowed]
        if len(cosines) > count:
            best = np.argpartition(-cosines, count)[:count]
            allowed, cosines = allowed[best], cosines[best]
        found: list[int] = self.row_ids[allowed[np.argsort(-cosines)]].tolist()
        return found

    def vectors_of(self, row_ids: Sequence[int]) -> list[Vectors | None]:
        """Each row's vector, or None; copies, since a view would keep the whole matrix alive. Every id must exist."""
        import numpy as np

        places = np.searchsorted(self.row_ids, np.asarray(row_ids, np.uint64))
        return [self.vectors[place].copy() if self.scales[place] > 0 else None for place in places.tolist()]

    def only_rows(self, row_ids: NDArray[np.uint64]) -> VectorMatrix:
        """Keeps only its rows that are among these; the others stay in memory but are not found."""
        import numpy as np

        is_there = np.isin(self.row_ids, row_ids, assume_unique=True)
        return replace(self, scales=np.where(is_there, self.scales, np.float32(0)))

    def with_rows(self, others: VectorMatrix) -> VectorMatrix | None:
        """Both together without copying this one; None if there is no room, or `others` doesn't follow it."""
        import numpy as np

        start, end = len(self.row_ids), len(self.row_ids) + len(others.row_ids)
        is_behind = not start or others.row_ids[0] > self.row_ids[-1]
        if self.room.used != start or end > len(self.room.vectors) or not is_behind:
            return None
        self.room.used = end
        self.room.vectors[start:end] = others.vectors
        return VectorMatrix(
            np.concatenate([self.row_ids, others.row_ids]),
            self.room,
            np.concatenate([self.scales, others.scales]),
            self.agents.with_texts(others.agents),
            self.kinds.with_texts(others.kinds),
            self.paths.with_texts(others.paths),
            np.concatenate([self.days, others.days]),
        )

    def _allowed(self, only: SearchFilter) -> NDArray[np.intp]:
        """The indices of rows with a vector that pass the filter: the same as `index_filter.where` in SQL."""
        import numpy as np

        mask = self.scales > 0
        if only.agents is not None:
            mask &= self.agents.where({stored_text(agent) for agent in only.agents}.__contains__)
        if only.kinds is not None:
            kinds: frozenset[str] = only.kinds
            mask &= self.kinds.where(kinds.__contains__)
        if only.paths is not None:
            beginnings = tuple(stored_text(path) for path in only.paths)
            mask &= self.paths.where(lambda path: path.startswith(beginnings))
        if only.since is not None:
            mask &= self.days >= _days_since_1970(only.since)
        if only.until is not None:
            mask &= (self.days <= _days_since_1970(only.until)) & (self.days != _NO_DAY)
        return np.flatnonzero(mask)


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of few distinct texts; `codes` are int32 indices into `texts`."""

    codes: NDArray[np.int32]
    texts: Sequence[str]

    def where(self, is_wanted: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Which rows have a wanted text."""
        import numpy as np

        wanted: NDArray[np.bool_] = np.fromiter(map(is_wanted, self.texts), np.bool_, len(self.texts))[self.codes]
        return wanted

    def at(self, places: NDArray[np.intp]) -> TextColumn:
        """These rows."""
        return TextColumn(self.codes[places], self.texts)

    def with_texts(self, others: TextColumn) -> TextColumn:
        """Its rows, followed by those of the other one."""
        import numpy as np

        codes = {text: code for code, text in enumerate(self.texts)}
        theirs = np.array([codes.setdefault(text, len(codes)) for text in others.texts], np.int32)
        return TextColumn(np.concatenate([self.codes, theirs[others.codes]]), tuple(codes))


def matrix_of(rows: Rows, vectors: Iterable[pa.RecordBatch], dimension: int) -> VectorMatrix:
    """Builds the matrix of rows with their ids and `MATRIX_COLUMNS`, and their vectors by id, both in any order.

    The vectors are written to their final place as they arrive, so that no second copy is made.
    """
    import numpy as np

    ids = _row_ids(rows)
    order = np.argsort(ids)
    ids, count = ids[order], len(ids)
    spare = max(_MIN_SPARE_BYTES // (4 * dimension), count * _SPARE_PERCENT // 100)
    room = _Room(np.zeros((count + spare, dimension), np.float32), count)
    scales = np.zeros(count, np.float32)
    for part in vectors:
        places = np.searchsorted(ids, _row_ids(part))
        found, lengths = _vectors_and_lengths(part["vector"], dimension)
        room.vectors[places] = found
        scales[places] = np.divide(1, lengths, out=np.zeros(len(lengths), np.float32), where=lengths > 0)
    return VectorMatrix(
        ids,
        room,
        scales,
        agents=_text_column(rows["agent"]).at(order),
        kinds=_text_column(rows["kind"]).at(order),
        paths=_text_column(rows["path"]).at(order),
        days=rows["day"].cast("int32").fill_null(_NO_DAY).to_numpy()[order],
    )


def stored_vectors(column: pa.ChunkedArray, dimension: int) -> list[Vectors | None]:
    """Each row's vector, or None."""
    vectors, lengths = _vectors_and_lengths(column.combine_chunks(), dimension)
    return [vector if length > 0 else None for vector, length in zip(vectors, lengths.tolist(), strict=True)]


def _row_ids(rows: Rows | pa.RecordBatch) -> NDArray[np.uint64]:
    import numpy as np

    found: NDArray[np.uint64] = np.asarray(rows[ROW_ID].to_numpy(zero_copy_only=False), np.uint64)
    return found


def _vectors_and_lengths(column: pa.Array, dimension: int) -> tuple[Vectors, NDArray[np.float32]]:
    """float32 (rows, dimension) and (rows,); both are 0 for a missing vector, or one without a direction."""
    import numpy as np

    vectors = np.zeros((len(column), dimension), np.float32)
    there = column.is_valid().to_numpy(zero_copy_only=False)
    if there.any():
        vectors[there] = column.drop_null().flatten().to_numpy(zero_copy_only=False).reshape(-1, dimension)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    broken = ~np.isfinite(lengths)
    vectors[broken], lengths[broken] = 0, 0
    return vectors, lengths


def _text_column(column: pa.ChunkedArray) -> TextColumn:
    encoded = column.combine_chunks().dictionary_encode()
    return TextColumn(encoded.indices.to_numpy(), tuple(encoded.dictionary.to_pylist()))


def _days_since_1970(day: date) -> int:
    return day.toordinal() - date(1970, 1, 1).toordinal()
