"""Wraps the tables of LanceDB; the only module that uses it.

Everything blocks, so call it in worker threads; the library takes seconds to import, in the thread that first needs it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from onyx_jupyter.errors import IndexUnavailable
from onyx_jupyter.storage.atomic_write import make_private_folder
from onyx_jupyter.storage.disk_errors import disk_errors

if TYPE_CHECKING:
    import lancedb
    import pyarrow as pa

    from onyx_jupyter.protocols.retrieval import Vectors

    Rows: TypeAlias = pa.Table  # for callers, which pass it on

# For vectors not held in memory. Below this, brute force takes milliseconds and is exact: 5 ms per 10,000 on top of 3
# ms for any search. An index takes 3 s per 10,000 to build and 3 ms to query, whatever its size.
VECTORS_BEFORE_INDEX = 8_000
# How many times more candidates than requested are compared by their full vectors, if an index holds compressed ones.
REFINE_FACTOR = 10
# Another process may still be reading versions younger than this.
KEEP_VERSIONS_S = 600.0
# The id of a row within a version; never reused in the same table, and replaced when the row is rewritten.
ROW_ID = "_rowid"
# Longer words (hashes, addresses) are not indexed; LanceDB's default limit is 40.
_LONGEST_WORD = 128
_SUFFIX = ".lance"
_SOURCE_PLACE = re.compile(r",? ?/\S+\.rs:\d+:\d+")
_FIRST_WORDS = 300


class LanceFolder:
    """The tables of a folder. Another process's commits are visible at the next call."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: lancedb.DBConnection | None = None

    def names(self) -> list[str]:
        """The names of the tables, readable or not."""
        with disk_errors("list", self.path):
            return [entry.name.removesuffix(_SUFFIX) for entry in os.scandir(self.path) if entry.name.endswith(_SUFFIX)]

    def has(self, name: str) -> bool:
        return self._place(name).is_dir()

    def create(
        self, name: str, schema: pa.Schema, *, words: str | None, keys: Sequence[str], groups: Sequence[str]
    ) -> LanceTable:
        """Creates an empty table; `words` is the full-text column, `keys` and `groups` are filtered by value.

        A group has few distinct values. Raises: IndexUnavailable.
        """
        make_private_folder(self.path)
        with lance_errors("create", name):
            table = self._table(name, self._connect().create_table(name, schema=schema))
        table.index(words, keys, groups)
        return table

    def open(self, name: str) -> LanceTable:
        """Raises: IndexUnavailable."""
        with lance_errors("open", name):
            return self._table(name, self._connect().open_table(name))

    def drop(self, name: str) -> None:
        """Deletes the table with all its versions, if it exists."""
        shutil.rmtree(self._place(name), ignore_errors=True)

    def move_aside(self, name: str, target: Path) -> bool:
        """Moves the table to `target`, replacing what was there; False if it is gone. Raises: StorageError."""
        make_private_folder(target.parent)
        shutil.rmtree(target, ignore_errors=True)
        with disk_errors("move aside", self._place(name)):
            try:
                self._place(name).rename(target)
            except FileNotFoundError:
                return False
        return True

    def _place(self, name: str) -> Path:
        return self.path / f"{name}{_SUFFIX}"

    def _table(self, name: str, table: Any) -> LanceTable:
        return LanceTable(name, table, lambda: self._connect().open_table(name))

    def _connect(self) -> lancedb.DBConnection:
        if self._connection is None:
            import lancedb

            self._connection = lancedb.connect(self.path, read_consistency_interval=timedelta(0))
        return self._connection


class LanceTable:
    """One open table. Every method is one commit, or reads one version; all of them raise IndexUnavailable.

    `ROW_ID` can be requested like any other column.
    """

    def __init__(self, name: str, table: Any, reopen: Callable[[], Any]) -> None:
        self.name = name
        self._table = table
        self._reopen = reopen

    def version(self) -> int:
        """The version number, incremented by every commit, even by another process."""
        with lance_errors("read", self.name):
            return int(self._table.version)

    def at(self, version: int) -> LanceTable:
        """The same table, pinned to that version."""
        with lance_errors("open", self.name):
            table = self._reopen()
            table.checkout(version)
            return LanceTable(self.name, table, self._reopen)

    def dimension(self) -> int | None:
        """The dimension of its vectors; None in a table for words only."""
        with lance_errors("read", self.name):
            schema = self._table.schema
            return int(schema.field("vector").type.list_size) if "vector" in schema.names else None

    def count(self, where: str | None = None) -> int:
        with lance_errors("count", self.name):
            return int(self._table.count_rows(where))

    def rows(self, columns: Sequence[str], where: str | None = None, limit: int | None = None) -> Rows:
        """All matching rows, in no particular order."""
        with lance_errors("read", self.name):
            query = self._table.search().select(list(columns))
            query = query.where(where) if where else query
            return query.limit(limit).to_arrow()

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """All rows in batches, in no particular order."""
        with lance_errors("read", self.name):
            yield from self._table.search().select(list(columns)).to_batches()

    def take(self, row_ids: Sequence[int], columns: Sequence[str]) -> Rows:
        """The existing rows with these ids, in no particular order."""
        with lance_errors("read", self.name):
            return self._table.take_row_ids(list(row_ids)).select([*columns, ROW_ID]).to_arrow()

    def nearest(self, vector: Vectors, count: int, columns: Sequence[str], where: str | None) -> Rows:
        """The nearest rows with `_distance`, the cosine distance (0 to 2); rows without a vector are never found."""
        with lance_errors("search", self.name):
            query = self._table.search(vector, vector_column_name="vector").distance_type("cosine")
            query = query.where(where) if where else query
            return query.refine_factor(REFINE_FACTOR).select([*columns, "_distance"]).limit(count).to_arrow()

    def matching(self, words: str, count: int, columns: Sequence[str], where: str | None) -> Rows:
        """Rows that match any of the words, with `_score`, by BM25 (above 0, more is better); `words` has no syntax."""
        with lance_errors("search", self.name):
            from lancedb.query import MatchQuery

            terms: Any = MatchQuery  # its stubs require parameters that have defaults
            query = self._table.search(terms(words, "text"), query_type="fts")
            query = query.where(where) if where else query
            return query.select([*columns, "_score"]).limit(count).to_arrow()

    def append(self, rows: Rows) -> None:
        with lance_errors("write to", self.name):
            self._table.add(rows)

    def replace(self, rows: Rows, gone: str) -> None:
        """Replaces the rows that match `gone` with `rows`; one writer at a time."""
        with lance_errors("write to", self.name):
            self._check_columns(rows.schema)  # LanceDB itself would drop a vector of another dimension
            if not self._table.count_rows(gone):  # a merge reads all row ids, an append reads none
                self._table.add(rows, on_bad_vectors="null")
                return
            merge = self._table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            merge.when_not_matched_by_source_delete(gone).execute(rows, on_bad_vectors="null")

    def exchange(self, rows: Rows, *, where: str) -> None:
        """Replaces each row with the same id, if it exists and matches; `target.` prefixes its columns."""
        with lance_errors("write to", self.name):
            self._table.merge_insert("id").when_matched_update_all(where=where).execute(rows, on_bad_vectors="null")

    def delete(self, where: str) -> None:
        with lance_errors("write to", self.name):
            self._table.delete(where)

    def behind(self, column: str) -> int:
        """How many rows the column's index lacks; they are still searched, one by one."""
        with lance_errors("read", self.name):
            statistics = self._table.index_stats(f"{column}_idx")
            return int(statistics.num_unindexed_rows) if statistics else self.count()

    def fragments(self) -> int:
        """The number of fragments: one per commit, until `optimise` merges them."""
        with lance_errors("read", self.name):
            return int(self._table.stats()["fragment_stats"]["num_fragments"])

    def versions(self) -> int:
        """The number of versions on disk: one per commit, until `optimise` deletes the old ones."""
        with lance_errors("read", self.name):
            return len(self._table.list_versions())

    def optimise(self, kept_s: float = KEEP_VERSIONS_S) -> None:
        """Merges small fragments, updates the indices, and deletes versions older than `kept_s`."""
        with lance_errors("optimise", self.name):
            self._table.optimize(cleanup_older_than=timedelta(seconds=kept_s))

    def has_vector_index(self) -> bool:
        with lance_errors("read", self.name):
            return any(index.columns == ["vector"] for index in self._table.list_indices())

    def index_vectors(self) -> None:
        """Takes half a minute per 100,000 rows; searches and writes continue meanwhile."""
        with lance_errors("index", self.name):
            from lancedb.index import HnswSq

            config = HnswSq(distance_type="cosine", num_partitions=1, m=16, ef_construction=100)
            self._table.create_index("vector", config=config)

    def index(self, words: str | None, keys: Sequence[str], groups: Sequence[str]) -> None:
        """Builds the indices of these columns, replacing all existing ones."""
        with lance_errors("index", self.name):
            from lancedb.index import Bitmap, BTree

            for index in self._table.list_indices():
                self._table.drop_index(index.name)
            for key in keys:
                self._table.create_index(key, config=BTree())
            for group in groups:
                self._table.create_index(group, config=Bitmap())
            if words:
                self._table.create_index(words, config=_words_index())

    def check_rows(self, schema: pa.Schema) -> None:
        """Reads every column of every row; the columns must match the schema."""
        with lance_errors("read", self.name):
            self._check_columns(schema)
            for _ in self._table.search().select(self._table.schema.names).to_batches():
                pass

    def check_indices(self) -> None:
        """Searches by words and by vector, if the table has these columns."""
        with lance_errors("search", self.name):
            names = self._table.schema.names
            if "text" in names:
                self.matching("a", 1, ["id"], None)
            if "vector" in names and "id" in names:
                import numpy as np

                dimension = self._table.schema.field("vector").type.list_size
                self.nearest(np.ones(dimension, np.float32), 1, ["id"], None)

    def _check_columns(self, schema: pa.Schema) -> None:
        if not self._table.schema.equals(schema):
            raise IndexUnavailable(f"The table {self.name} does not have the columns that this version of Onyx writes.")


@contextmanager
def lance_errors(action: str, name: str) -> Iterator[None]:
    """Raises IndexUnavailable(`Could not {action} the table {name}: …`) for any error of LanceDB inside."""
    try:
        yield
    except IndexUnavailable:
        raise
    except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
        words = _SOURCE_PLACE.sub("", str(error)).strip().partition("\n")[0][:_FIRST_WORDS]
        raise IndexUnavailable(f"Could not {action} the table {name}: {words}") from error


def _words_index() -> Any:
    """ICU splits Chinese, Japanese and Thai by dictionary, everything else at spaces and punctuation.

    Words are folded (case, accents) and English ones stemmed. Stop words stay, since names and titles contain them.
    """
    from lancedb.index import FTS

    return FTS(base_tokenizer="icu/split", max_token_length=_LONGEST_WORD, remove_stop_words=False)
