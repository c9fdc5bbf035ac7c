"""Tables of LanceDB, the only file that touches it. It never decides what is in a table, or which one is used.

All of it blocks, so it runs in worker threads; the library takes seconds to import, in the thread that first needs it.
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

    Rows: TypeAlias = pa.Table  # for those above, who hand them on

# Of vectors not held in memory. Below, brute force takes milliseconds and is exact: 5 ms for each 10,000 on top of 3 ms
# for any search. An index takes 3 s a 10,000 to build and 3 ms to ask, whatever its size.
VECTORS_BEFORE_INDEX = 8_000
# How many times more than asked for are compared by their whole vectors, where an index holds shortened ones.
REFINE_FACTOR = 10
# Versions that another process may still be reading.
KEEP_VERSIONS_S = 600.0
# What a row is called within a version; never given to another row of the same table, nor kept by one that is written
# again.
ROW_ID = "_rowid"
# Longer words (hashes, addresses) are not searched for; LanceDB would stop at 40.
_LONGEST_WORD = 128
_SUFFIX = ".lance"
_SOURCE_PLACE = re.compile(r",? ?/\S+\.rs:\d+:\d+")
_FIRST_WORDS = 300


class LanceFolder:
    """The tables of a folder. Another process's commits are seen at the next call."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: lancedb.DBConnection | None = None

    def names(self) -> list[str]:
        """Of the tables, whether or not they can be read."""
        with disk_errors("list", self.path):
            return [entry.name.removesuffix(_SUFFIX) for entry in os.scandir(self.path) if entry.name.endswith(_SUFFIX)]

    def has(self, name: str) -> bool:
        return self._place(name).is_dir()

    def create(
        self, name: str, schema: pa.Schema, *, words: str | None, keys: Sequence[str], groups: Sequence[str]
    ) -> LanceTable:
        """An empty table; `words` is the column searched by words, `keys` and `groups` are those by value.

        A group has few different values. Raises: IndexUnavailable.
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
        """The table with all its versions, and nothing where there is none."""
        shutil.rmtree(self._place(name), ignore_errors=True)

    def move_aside(self, name: str, target: Path) -> bool:
        """In place of what was moved there before; False where the table is gone. Raises: StorageError."""
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

    `ROW_ID` is a column that can be asked for like any other.
    """

    def __init__(self, name: str, table: Any, reopen: Callable[[], Any]) -> None:
        self.name = name
        self._table = table
        self._reopen = reopen

    def version(self) -> int:
        """Counted up by every commit, another process's too."""
        with lance_errors("read", self.name):
            return int(self._table.version)

    def at(self, version: int) -> LanceTable:
        """The same table, which stays at that version whatever is written."""
        with lance_errors("open", self.name):
            table = self._reopen()
            table.checkout(version)
            return LanceTable(self.name, table, self._reopen)

    def dimension(self) -> int | None:
        """Of its vectors; None in a table for words alone."""
        with lance_errors("read", self.name):
            schema = self._table.schema
            return int(schema.field("vector").type.list_size) if "vector" in schema.names else None

    def count(self, where: str | None = None) -> int:
        with lance_errors("count", self.name):
            return int(self._table.count_rows(where))

    def rows(self, columns: Sequence[str], where: str | None = None, limit: int | None = None) -> Rows:
        """All that match, in no particular order."""
        with lance_errors("read", self.name):
            query = self._table.search().select(list(columns))
            query = query.where(where) if where else query
            return query.limit(limit).to_arrow()

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """All rows, in no particular order, a part at a time."""
        with lance_errors("read", self.name):
            yield from self._table.search().select(list(columns)).to_batches()

    def take(self, row_ids: Sequence[int], columns: Sequence[str]) -> Rows:
        """The rows of these ids that are there, in no particular order."""
        with lance_errors("read", self.name):
            return self._table.take_row_ids(list(row_ids)).select([*columns, ROW_ID]).to_arrow()

    def nearest(self, vector: Vectors, count: int, columns: Sequence[str], where: str | None) -> Rows:
        """With `_distance`, the cosine distance (0 to 2); rows without a vector are never found."""
        with lance_errors("search", self.name):
            query = self._table.search(vector, vector_column_name="vector").distance_type("cosine")
            query = query.where(where) if where else query
            return query.refine_factor(REFINE_FACTOR).select([*columns, "_distance"]).limit(count).to_arrow()

    def matching(self, words: str, count: int, columns: Sequence[str], where: str | None) -> Rows:
        """With `_score`, by BM25 (above 0, more is better); `words` has no syntax, any of them may match."""
        with lance_errors("search", self.name):
            from lancedb.query import MatchQuery

            terms: Any = MatchQuery  # its stubs ask for what has defaults
            query = self._table.search(terms(words, "text"), query_type="fts")
            query = query.where(where) if where else query
            return query.select([*columns, "_score"]).limit(count).to_arrow()

    def append(self, rows: Rows) -> None:
        with lance_errors("write to", self.name):
            self._table.add(rows)

    def replace(self, rows: Rows, gone: str) -> None:
        """`rows` in place of the rows that match `gone`; one writer at a time."""
        with lance_errors("write to", self.name):
            self._check_columns(rows.schema)  # LanceDB itself would leave out a vector of another dimension
            if not self._table.count_rows(gone):  # a merge reads the ids of all rows, an append none
                self._table.add(rows, on_bad_vectors="null")
                return
            merge = self._table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            merge.when_not_matched_by_source_delete(gone).execute(rows, on_bad_vectors="null")

    def exchange(self, rows: Rows, *, where: str) -> None:
        """Each row in place of the one with its id, if that is there and matches; `target.` names its columns."""
        with lance_errors("write to", self.name):
            self._table.merge_insert("id").when_matched_update_all(where=where).execute(rows, on_bad_vectors="null")

    def delete(self, where: str) -> None:
        with lance_errors("write to", self.name):
            self._table.delete(where)

    def behind(self, column: str) -> int:
        """How many rows the index of that column does not have yet; they are searched all the same, one by one."""
        with lance_errors("read", self.name):
            statistics = self._table.index_stats(f"{column}_idx")
            return int(statistics.num_unindexed_rows) if statistics else self.count()

    def fragments(self) -> int:
        """In how many pieces the rows lie: one a commit, until `optimise` joins them."""
        with lance_errors("read", self.name):
            return int(self._table.stats()["fragment_stats"]["num_fragments"])

    def versions(self) -> int:
        """How many states of the table lie on disk: one a commit, until `optimise` lets the old ones go."""
        with lance_errors("read", self.name):
            return len(self._table.list_versions())

    def optimise(self, kept_s: float = KEEP_VERSIONS_S) -> None:
        """Joins small pieces, brings the indices up to date, and drops versions that nobody reads any more."""
        with lance_errors("optimise", self.name):
            self._table.optimize(cleanup_older_than=timedelta(seconds=kept_s))

    def has_vector_index(self) -> bool:
        with lance_errors("read", self.name):
            return any(index.columns == ["vector"] for index in self._table.list_indices())

    def index_vectors(self) -> None:
        """Takes half a minute a hundred thousand rows; searching and writing go on meanwhile."""
        with lance_errors("index", self.name):
            from lancedb.index import HnswSq

            config = HnswSq(distance_type="cosine", num_partitions=1, m=16, ef_construction=100)
            self._table.create_index("vector", config=config)

    def index(self, words: str | None, keys: Sequence[str], groups: Sequence[str]) -> None:
        """Makes the indices of these columns, in place of all that there are."""
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
        """Reads every column of every row, which have to be those of the schema."""
        with lance_errors("read", self.name):
            self._check_columns(schema)
            for _ in self._table.search().select(self._table.schema.names).to_batches():
                pass

    def check_indices(self) -> None:
        """Searches by words and by vector, where the table has them."""
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
            raise IndexUnavailable(f"The table {self.name} has other columns than this version of Onyx writes.")


@contextmanager
def lance_errors(action: str, name: str) -> Iterator[None]:
    """Raises IndexUnavailable(`Could not {action} the table {name}: …`) for whatever LanceDB raises inside."""
    try:
        yield
    except IndexUnavailable:
        raise
    except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
        words = _SOURCE_PLACE.sub("", str(error)).strip().partition("\n")[0][:_FIRST_WORDS]
        raise IndexUnavailable(f"Could not {action} the table {name}: {words}") from error


def _words_index() -> Any:
    """ICU parts Chinese, Japanese and Thai by dictionary, everything else by spaces and punctuation.

    Words are folded (case, accents) and English ones stemmed. Stop words stay: names and titles are made of them.
    """
    from lancedb.index import FTS

    return FTS(base_tokenizer="icu/split", max_token_length=_LONGEST_WORD, remove_stop_words=False)
