"""The index accepts any text as query, passage, name or filter, and returns it unchanged."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from onyx_jupyter.protocols.retrieval import Chunk, SearchFilter, Source
from onyx_jupyter.storage.vector_matrix import MATRIX_BYTES
from tests.retrieval.sources import open_index

OPERATORS = [*"\"'\\*?^()[]{}:+-%_;", "''", "~2", "--", "/*", "&&", "||"]
WORDS = ["tea", "AND", "OR", "NOT", "text:tea", "NEAR", "茶", "紅茶", "차를", "thé", "\x00", "\ud800", "\u202e"]
MARKS = ["\U0010d800", "\U0010fffd", "\U0010fffd\U0010d800"]
TEXTS = st.text(max_size=40) | st.lists(st.sampled_from(OPERATORS + WORDS + MARKS), max_size=8).map(" ".join)
ANYTHING = st.text(st.characters(), max_size=40) | TEXTS  # halves of surrogate pairs too


class Shelf:
    """An index, and a loop to use it in."""

    def __init__(self, folder: Path, matrix_bytes: int) -> None:
        self.runner = asyncio.Runner()
        self.index = open_index(folder / "index", chunking="c", matrix_bytes=matrix_bytes)


@pytest.fixture(scope="module", params=[MATRIX_BYTES, 0], ids=["in memory", "on disk"])
def shelf(request: pytest.FixtureRequest) -> Iterator[Shelf]:
    with tempfile.TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder), request.param)
        yield shelf
        shelf.runner.run(shelf.index.close())
        shelf.runner.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=ANYTHING, prefix=ANYTHING)
@example(query="'; drop table x --", prefix="' OR '1'='1")
@example(query='"tea', prefix="")
@example(query="tea " * 5_000, prefix="notes")
def test_any_query_with_any_filter_is_answered(shelf: Shelf, query: str, prefix: str) -> None:
    async def ask() -> None:
        await shelf.index.put([Source("memory", "main", "notes.md", "1", [Chunk("a pot of tea", 1, 1)])])
        only = SearchFilter(agents=frozenset({"main", prefix}), paths=[prefix])
        candidates, note = await shelf.index.candidates(query, 5, only)
        assert note is None
        assert [one.path for one in candidates] == ["notes.md"] * (
            "notes.md".startswith(prefix) and bool(query.strip())
        )
        assert await shelf.index.checksums(prefix) == ({("main", "notes.md"): "1"} if prefix == "main" else {})

    shelf.runner.run(ask())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.tuples(ANYTHING, ANYTHING), checksum=ANYTHING, parts=st.tuples(ANYTHING, ANYTHING, ANYTHING, ANYTHING))
@example(name=("", ""), checksum="", parts=("", "", "", ""))
@example(name=("main", "a.md"), checksum="1", parts=("서울에서 왔다", "여행", "부산으로", "어디에서?"))
def test_any_source_round_trips_and_can_be_removed(
    shelf: Shelf, name: tuple[str, str], checksum: str, parts: tuple[str, str, str, str]
) -> None:
    (agent, path), (text, heading, context, before) = name, parts
    chunk = Chunk(text, 1, 2, heading, context, before)

    async def put_and_take() -> None:
        names = list(await shelf.index.checksums())
        await shelf.index.remove(names)
        await shelf.index.put([Source("memory", agent, path, checksum, [chunk])])
        assert await shelf.index.checksums() == {(agent, path): checksum}
        candidates, _ = await shelf.index.candidates(f"{context} {text} tea", 5, SearchFilter(paths=[path]))
        found = [(one.agent, one.path, one.chunk) for one in candidates]
        assert found == [(agent, path, chunk)] or (not f"{context}{text}".strip() and not found)
        await shelf.index.remove([(agent, path)])
        assert await shelf.index.checksums() == {}

    shelf.runner.run(put_and_take())
