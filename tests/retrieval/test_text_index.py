from datetime import date
from pathlib import Path

import numpy as np
import pytest

from onyx_jupyter.protocols.retrieval import Chunk, SearchFilter, Source
from onyx_jupyter.testing.fake_embedder import FakeEmbedder, FakeEmbeddings
from tests.retrieval.sources import EVERYTHING, found, open_index, source, texts_with


async def test_put_text_round_trips(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index")
    chunk = Chunk(
        "Kai is allergic to nuts.",
        3,
        4,
        heading="People > Kai",
        context="2026-01-05\nAbout Kai",
        before="Who is Kai?\n한국어 텍스트",
        parent=(1, 9),
    )
    await index.put([Source("memory", "main", "memory/2026-01-05.md", "c1", [chunk], date(2026, 1, 5))])
    (one,) = await found(index, "What is Kai allergic to?")
    assert (one.kind, one.agent, one.path, one.day) == ("memory", "main", "memory/2026-01-05.md", date(2026, 1, 5))
    assert one.chunk == chunk
    assert one.vector is not None
    assert np.isclose(np.linalg.norm(one.vector), 1)
    await index.close()


async def test_words_and_meaning_complement_each_other(tmp_path: Path) -> None:
    embedder = FakeEmbedder(alike={"car": "automobile"})
    index = open_index(tmp_path / "index", FakeEmbeddings(embedder))
    await index.put([source("a.md", "my automobile"), source("b.md", "the garage")])
    by_meaning, other = await found(index, "car")
    assert (by_meaning.path, by_meaning.words) == ("a.md", None)
    assert by_meaning.similarity == pytest.approx(0.7071, abs=1e-3)  # one of two words, both of length one
    assert other.similarity == pytest.approx(0, abs=1e-6)
    by_words = next(one for one in await found(index, "garages") if one.words is not None)
    assert by_words.path == "b.md"
    assert by_words.similarity == pytest.approx(0, abs=1e-6)  # known although the vectors did not find it
    await index.close()


async def test_context_is_searched_but_not_part_of_text(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index")
    await index.put([Source("memory", "main", "a.md", "1", [Chunk("yes, on Friday", 1, 1, context="shall we meet?")])])
    (one,) = await found(index, "meet")
    assert one.words is not None
    assert one.similarity is not None
    assert one.similarity > 0.3
    assert one.chunk.text == "yes, on Friday"
    await index.close()


async def test_previous_turns_are_searched_by_words_only(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index")
    chunks = [Chunk("yes, on Friday", 1, 1, before="shall we meet?"), Chunk("yes, on Friday", 2, 2)]
    await index.put([Source("session", "main", "s", "1", chunks)])
    (one, other) = sorted(await found(index, "meet"), key=lambda candidate: candidate.chunk.start_line)
    assert (one.words is not None, other.words is not None) == (True, False)
    assert one.similarity == other.similarity
    assert (one.chunk.text, one.chunk.before) == ("yes, on Friday", "shall we meet?")
    await index.close()


async def test_stop_words_find_nothing_beside_others_and_everything_alone(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index")
    await index.put([source("a.md", "the garden of ours", "a cat", "Who, the band")])
    assert await texts_with(index, "Where is the cat of the house?") == {"a cat"}
    assert await texts_with(index, "the who") == {"the garden of ours", "Who, the band"}
    await index.close()


async def test_each_ranking_returns_at_most_requested_number(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index")
    await index.put([source("a.md", *[f"note {number}" for number in range(30)])])
    candidates, _ = await index.candidates("note", 4, EVERYTHING)
    assert sum(one.words is not None for one in candidates) == 4
    assert 4 <= len(candidates) <= 8
    assert await index.candidates("note", 0, EVERYTHING) == ([], None)
    await index.close()


async def test_new_chunks_replace_old_ones(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index")
    await index.put([source("a.md", "first", "second", "third"), source("b.md", "first")])
    await index.put([source("a.md", "second", "fourth")])
    assert {(one.path, one.chunk.text) for one in await found(index, "x")} == {
        ("a.md", "second"),
        ("a.md", "fourth"),
        ("b.md", "first"),
    }
    await index.remove([("main", "a.md"), ("main", "never there")])
    assert [one.path for one in await found(index, "second")] == ["b.md"]
    await index.close()


async def test_same_path_of_another_agent_is_another_source(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index")
    await index.put([source("MEMORY.md", "tea"), source("MEMORY.md", "coffee", agent="work")])
    await index.remove([("work", "MEMORY.md")])
    assert [one.chunk.text for one in await found(index, "coffee")] == ["tea"]
    assert await index.checksums() == {("main", "MEMORY.md"): source("MEMORY.md", "tea").checksum}
    await index.close()


async def test_checksums_are_per_agent_and_include_empty_sources(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index")
    empty = Source("memory", "", "shared/empty.md", "e", [])
    await index.put([source("a.md", "tea"), empty])
    assert await index.checksums("") == {("", "shared/empty.md"): "e"}
    assert set(await index.checksums()) == {("main", "a.md"), ("", "shared/empty.md")}
    assert [one.path for one in await found(index, "empty")] == ["a.md"]
    await index.close()


async def test_sources_with_outdated_chunking_are_stale_but_searchable(tmp_path: Path) -> None:
    before = open_index(tmp_path / "index")
    await before.put([source("a.md", "tea"), source("b.md", "coffee")])
    await before.close()
    index = open_index(tmp_path / "index", chunking="800/0")
    assert await index.checksums() == {("main", "a.md"): "", ("main", "b.md"): ""}
    assert await texts_with(index, "tea") == {"tea"}
    await index.put([source("a.md", "tea")])
    assert await index.checksums() == {("main", "a.md"): source("a.md", "tea").checksum, ("main", "b.md"): ""}
    await index.close()


async def test_older_version_leaves_chunks_of_newer_one(tmp_path: Path) -> None:
    old, new = (open_index(tmp_path / "index", chunking=chunking) for chunking in ("rules 1", "rules 2"))
    notes = [source("a.md", "tea"), source("b.md", "coffee")]
    whole = {("main", note.path): note.checksum for note in notes}
    assert await old.checksums() == {}
    await old.put(notes)
    assert await new.checksums() == {("main", "a.md"): "", ("main", "b.md"): ""}
    await new.put(notes)
    for _ in range(3):
        assert await old.checksums() == whole
        assert await new.checksums() == whole
    await old.put(notes[:1])
    assert await old.checksums() == whole
    assert await new.checksums() == {**whole, ("main", "a.md"): ""}
    await old.close()
    await new.close()


@pytest.mark.parametrize(
    ("only", "paths"),
    [
        (SearchFilter(agents=frozenset({"main"})), {"memory/a.md", "memory/b.md", "it's 100% _.md"}),
        (SearchFilter(agents=frozenset({"", "work"})), {"shared/c.md", "memory/d.md"}),
        (SearchFilter(agents=frozenset()), set()),
        (SearchFilter(kinds=frozenset({"shared", "session"})), {"shared/c.md"}),
        (SearchFilter(paths=["memory/"]), {"memory/a.md", "memory/b.md", "memory/d.md"}),
        (SearchFilter(paths=["it's 100% _", "shared/"]), {"it's 100% _.md", "shared/c.md"}),
        (SearchFilter(paths=["it's 1__% _"]), set()),
        (SearchFilter(paths=[]), set()),
        (SearchFilter(since=date(2026, 1, 2)), {"memory/b.md"}),
        (SearchFilter(until=date(2026, 1, 2)), {"memory/a.md", "memory/b.md"}),
        (SearchFilter(since=date(2026, 1, 2), until=date(2026, 1, 1)), set()),
        (SearchFilter(agents=frozenset({"work"}), paths=["memory/"]), {"memory/d.md"}),
    ],
)
async def test_filters_apply_to_both_rankings(tmp_path: Path, only: SearchFilter, paths: set[str]) -> None:
    index = open_index(tmp_path / "index")
    await index.put(
        [
            source("memory/a.md", "tea", day=date(2026, 1, 1)),
            source("memory/b.md", "tea", day=date(2026, 1, 2)),
            source("it's 100% _.md", "tea"),
            source("shared/c.md", "tea", agent="", kind="shared"),
            source("memory/d.md", "tea", agent="work"),
        ]
    )
    candidates = await found(index, "tea", only)
    assert {one.path for one in candidates} == paths
    assert all(one.words is not None and one.similarity is not None for one in candidates)
    await index.close()


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Das Café in Zürich", "cafe zurich"),
        ("a cafe in Zurich", "CAFÉ"),
        ("昨天我在北京吃了烤鸭", "烤鸭"),
        ("東京タワーへ行きました", "東京"),
        ("어제 서울에서 비빔밥을 먹었다", "서울"),
        ("어제 서울에서 비빔밥을 먹었다", "비빔밥"),
        ("вчера был в Москве", "МОСКВЕ"),
        ("see load_frame in memory/read_csv.py", "read csv"),
        ("the commit 8199be6f" + "0" * 56, "8199be6f" + "0" * 56),
        ("who was it?", "who"),
        ("a\x00b tea", "tea"),
        ("half a pair \ud83d tea", "tea \ud83d"),
    ],
)
async def test_words_are_found_in_any_script(tmp_path: Path, text: str, query: str) -> None:
    index = open_index(tmp_path / "index", FakeEmbeddings())
    await index.put([source("a.md", text), source("b.md", "something else")])
    assert await texts_with(index, query) == {text}
    await index.settled()
    assert await texts_with(index, query) == {text}  # in the index, and not row by row any more
    await index.close()


async def test_names_with_invalid_unicode_are_preserved(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index")
    name = b"no\xffte.md".decode(errors="surrogateescape")
    await index.put([source(name, "tea", agent="o'neil")])
    assert list(await index.checksums()) == [("o'neil", name)]
    assert [one.path for one in await found(index, "tea", SearchFilter(paths=[name]))] == [name]
    await index.remove([("o'neil", name)])
    assert await index.checksums() == {}
    await index.close()


async def test_folder_is_private(tmp_path: Path) -> None:
    index = open_index(tmp_path / "home" / "index")
    await index.put([source("a.md", "tea")])
    assert (tmp_path / "home" / "index").stat().st_mode & 0o777 == 0o700
    await index.close()
