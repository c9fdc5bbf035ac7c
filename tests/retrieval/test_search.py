"""Searching an index: scores and their parts, snippets, filters, notices about missing parts."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, timedelta

import pytest

from onyx_jupyter.errors import IndexUnavailable
from onyx_jupyter.protocols.retrieval import Candidate, Found, SearchAnswer, SearchFilter, Source, SourceKind
from onyx_jupyter.retrieval.chunking import ChunkSize, chunk_children, chunk_markdown
from onyx_jupyter.retrieval.search import MAX_QUERY_CHARS, HybridSearch
from onyx_jupyter.retrieval.settings import SearchSettings
from onyx_jupyter.retrieval.snippet import SNIPPET_CHARS
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.retrieval.small_index import NO_EMBEDDER, SmallIndex, a_candidate

TODAY = date(2026, 1, 1)
PLAIN = SearchSettings(half_life_days=7, recency_floor=1, mmr_lambda=1)
SUBJECTS = {"cat": 0, "feline": 0, "kitten": 0, "budget": 1, "money": 1, "sea": 2, "ocean": 2}


def meaning(text: str) -> list[float]:
    """A vector of subjects."""
    vector = [0.05, 0.05, 0.05]
    for word in text.casefold().replace(".", " ").replace("?", " ").split():
        if word in SUBJECTS:
            vector[SUBJECTS[word]] += 1
    return vector


class Scripted(SmallIndex):
    """Gives what it was told to."""

    def __init__(self, *found: Candidate) -> None:
        super().__init__()
        self.found = found

    async def candidates(self, query: str, count: int, only: SearchFilter) -> tuple[Sequence[Candidate], str | None]:
        return self.found, None


def search_of(index: SmallIndex, settings: SearchSettings = PLAIN, **more: object) -> HybridSearch:
    return HybridSearch(index, lambda: settings, FakeClock(), time_zone=UTC, **more)  # type: ignore[arg-type]


async def notes(**files: str) -> SmallIndex:
    index = SmallIndex(meaning)
    await index.put([a_source(f"{name}.md", text) for name, text in files.items()])
    return index


def a_source(
    path: str, text: str, *, kind: SourceKind = "memory", agent: str = "main", day: date | None = None
) -> Source:
    return Source(kind, agent, path, str(hash(text)), chunk_markdown(text, title=path, day=day), day)


def names(answer: SearchAnswer) -> list[str]:
    return [one.path for one in answer.found]


async def test_words_and_meaning_are_combined_with_location_and_score() -> None:
    index = await notes(pets="# Home\n\n## Pets\nThe cat is called Mo.\n", money="The budget of March is large.")
    (one,) = (await search_of(index).search("cat")).found
    assert (one.path, one.start_line, one.end_line, one.heading) == ("pets.md", 1, 4, "Home › Pets")
    assert "called Mo" in one.snippet
    assert one.vector_score is not None
    assert one.text_score is not None
    assert one.score == pytest.approx(0.6 * one.vector_score + 0.4 * one.text_score, abs=1e-3)
    assert (one.recency, one.day) == (None, None)
    (other,) = (await search_of(index).search("feline")).found
    assert (other.path, other.text_score) == ("pets.md", None)
    assert other.score == other.vector_score


async def test_four_times_as_many_candidates_are_requested_per_ranking() -> None:
    index = await notes(a="cat")
    await search_of(index).search("cat")
    await search_of(index).search("cat", limit=10)
    assert [count for _, count, _ in index.asked] == [24, 40]


async def test_filter_is_applied_in_index() -> None:
    index = SmallIndex(meaning)
    await index.put(
        [
            a_source("MEMORY.md", "The cat is Mo."),
            a_source("memory/2025-12-30.md", "The cat was ill at sea.", day=date(2025, 12, 30)),
            a_source("shared.md", "Our cat costs money.", kind="shared", agent=""),
            a_source("MEMORY.md", "Their cat has a budget and money by the sea.", agent="other"),
        ]
    )
    search = search_of(index)
    assert len((await search.search("cat")).found) == 4
    mine = SearchFilter(agents=frozenset({"main"}))
    assert sorted(names(await search.search("cat", only=mine))) == ["MEMORY.md", "memory/2025-12-30.md"]
    assert names(await search.search("cat", only=replace(mine, paths=["memory/"]))) == ["memory/2025-12-30.md"]
    assert names(await search.search("cat", only=SearchFilter(kinds=frozenset({"shared"})))) == ["shared.md"]
    assert names(await search.search("cat", only=SearchFilter(since=date(2025, 12, 1)))) == ["memory/2025-12-30.md"]
    assert names(await search.search("cat", only=SearchFilter(until=date(2025, 12, 1)))) == []


async def test_without_embedder_word_results_are_returned_with_notice() -> None:
    index = SmallIndex()
    await index.put([a_source("a.md", "The cat is Mo."), a_source("b.md", "No pets here.")])
    answer = await search_of(index).search("cat")
    assert answer.note == NO_EMBEDDER
    (one,) = answer.found
    assert (one.path, one.vector_score, one.score) == ("a.md", None, one.text_score)


async def test_without_relevant_results_only_word_matches_are_returned() -> None:
    weak = a_candidate("a.md", "one", similarity=0.1, words=0.5)
    unlike = a_candidate("b.md", "two", similarity=0.15)
    answer = await search_of(Scripted(weak, unlike)).search("one", min_score=0.9)
    assert names(answer) == ["a.md"]
    assert answer.note == "Nothing reaches the score of 0.9; these contain words of the question."
    good = a_candidate("c.md", "three", similarity=0.95, words=20.0)
    answer = await search_of(Scripted(weak, unlike, good)).search("one", min_score=0.8)
    assert (names(answer), answer.note) == (["c.md"], None)
    assert (await search_of(Scripted(unlike)).search("one", min_score=0.9)).found == ()


async def test_files_answer_if_index_is_unusable() -> None:
    async def read_the_files(query: str, only: SearchFilter, limit: int) -> Sequence[Found]:
        assert only.agents == frozenset({"main"})
        return [Found("memory", "main", f"{number}.md", 1, 1, "", query, 0.5) for number in range(limit + 1)]

    index = SmallIndex(meaning)
    index.broken = IndexUnavailable("The table is damaged.")
    only = SearchFilter(agents=frozenset({"main"}))
    answer = await search_of(index, fallback=read_the_files).search("cat", only=only)
    assert len(answer.found) == 6
    assert answer.note is not None
    assert "by keyword only" in answer.note
    assert "The table is damaged." in answer.note
    nothing = await search_of(index).search("cat")
    assert (nothing.found, nothing.note) == ((), "The search failed. The table is damaged.")


async def test_unexpected_error_is_not_hidden() -> None:
    index = SmallIndex(meaning)
    index.broken = KeyError("bug")
    with pytest.raises(KeyError):
        await search_of(index).search("cat")


@pytest.mark.parametrize(("query", "limit"), [("", None), (" \n", None), ("cat", 0)])
async def test_empty_query_finds_nothing_without_index_access(query: str, limit: int | None) -> None:
    index = await notes(a="cat")
    assert (await search_of(index).search(query, limit=limit)).found == ()
    assert index.asked == []


async def test_very_long_query_is_searched_by_its_beginning() -> None:
    index = await notes(a="cat")
    await search_of(index).search("cat " * 100_000)
    ((query, _, _),) = index.asked
    assert len(query) <= MAX_QUERY_CHARS


async def test_snippet_is_bounded_and_contains_match() -> None:
    text = "Nothing of note here. " * 60 + "The kitten sleeps on the sofa. " + "More of the same. " * 40
    index = await notes()
    await index.put([Source("memory", "main", "a.md", "1", chunk_markdown(text, size=ChunkSize(2000, 0)))])
    (one,) = (await search_of(index).search("Where does the kitten sleep?")).found
    assert len(one.snippet) <= SNIPPET_CHARS
    assert "kitten sleeps" in one.snippet
    assert one.snippet.startswith("…")
    assert one.snippet.endswith("…")


async def test_shared_lines_of_two_passages_are_returned_once() -> None:
    first = a_candidate(text="one\ntwo cat\nthree", lines=(1, 3), similarity=0.9, words=9.0)
    second = a_candidate(text="three\nfour cat\nfive", lines=(3, 5), similarity=0.8, words=8.0)
    (one, other) = (await search_of(Scripted(second, first)).search("cat")).found
    assert (one.start_line, one.end_line, one.snippet) == (1, 3, "one\ntwo cat\nthree")
    assert (other.start_line, other.end_line, other.snippet) == (4, 5, "four cat\nfive")
    better = replace(second, similarity=0.95, words=9.5)
    (one, other) = (await search_of(Scripted(better, first)).search("cat")).found
    assert (one.start_line, one.end_line) == (3, 5)
    assert (other.start_line, other.end_line, other.snippet) == (1, 2, "one\ntwo cat")


async def test_passage_whose_match_is_in_a_better_one_is_dropped() -> None:
    first = a_candidate(text="one\ntwo\nthe cat", lines=(1, 3), similarity=0.9, words=9.0)
    second = a_candidate(text="the cat\nfour\nfive", lines=(3, 5), similarity=0.8, words=8.0)
    assert len((await search_of(Scripted(first, second)).search("cat")).found) == 1


async def test_parts_of_one_long_line_are_both_returned() -> None:
    pieces = [a_candidate(text=f"the cat {number} is here", similarity=0.9 - number / 10) for number in range(2)]
    assert len((await search_of(Scripted(*pieces)).search("cat")).found) == 2


async def test_matched_children_return_their_passage_once() -> None:
    text = "# Pets\n" + "\n\n".join(f"The cat number {number} likes the sofa a lot." for number in range(120))
    index = SmallIndex()
    await index.put([Source("document", "main", "pets.md", "1", chunk_children(text))])
    (one, other) = sorted((await search_of(index).search("cat")).found, key=lambda found: found.start_line)
    assert (one.start_line, other.end_line) == (1, len(text.split("\n")))
    assert one.end_line < other.start_line
    (exact,) = (await search_of(index).search("number 7")).found
    assert (exact.start_line, exact.end_line) == (one.start_line, one.end_line)
    assert "number 7 " in exact.snippet


async def test_newer_result_comes_first_and_age_alone_loses_nothing() -> None:
    settings = replace(PLAIN, recency_floor=0.0)
    old = a_candidate("old.md", "x y", day=TODAY - timedelta(days=70), similarity=0.8, words=5.0)
    new = a_candidate("new.md", "x z", day=TODAY, similarity=0.8, words=5.0)
    ever = a_candidate("ever.md", "x w", similarity=0.8, words=5.0)
    answer = await search_of(Scripted(old, new, ever), settings).search("x")
    assert names(answer)[2] == "old.md"
    assert {one.path: one.recency for one in answer.found} == {"old.md": 0.001, "new.md": 1.0, "ever.md": None}
    assert answer.note is None


async def test_rrf_is_selectable_with_bounded_scores() -> None:
    both = a_candidate("both.md", "x y", similarity=0.5, words=3.0)
    words = a_candidate("words.md", "x z", words=9.0)
    like = a_candidate("like.md", "w", similarity=0.9)
    answer = await search_of(Scripted(like, words, both), replace(PLAIN, fusion="rrf", min_score=0)).search("x")
    assert names(answer) == ["both.md", "like.md", "words.md"]
    assert answer.found[0].score == pytest.approx((1 / 62 + 1 / 62) / (2 / 61), abs=1e-4)


async def test_rrf_ranks_but_does_not_judge_relevance() -> None:
    ranks = replace(PLAIN, fusion="rrf")
    only_hit = a_candidate("only.md", "w", similarity=0.05)
    assert (await search_of(Scripted(only_hit), ranks).search("x", min_score=0.35)).found == ()
    far = a_candidate("far.md", "x y", similarity=0.3, words=3.0)
    near = a_candidate("near.md", "w", similarity=0.9)
    answer = await search_of(Scripted(only_hit, far, near), ranks).search("x", min_score=0.5)
    assert names(answer) == ["far.md", "near.md"]
    assert [one.relevance for one in answer.found] == [pytest.approx(0.6 * 0.3 + 0.4), pytest.approx(0.6 * 0.9)]


async def test_passage_identity_is_its_full_text() -> None:
    text = "The cat. " + "Nothing here. " * 60 + "Money."
    cat, money = [
        (await search_of(Scripted(a_candidate("a.md", text, similarity=0.9, words=5.0))).search(word)).found[0]
        for word in ("cat", "money")
    ]
    assert cat.snippet != money.snippet
    assert cat.checksum == money.checksum
    other = a_candidate("a.md", text.replace("Money.", "Sea."), similarity=0.9, words=5.0)
    assert (await search_of(Scripted(other)).search("cat")).found[0].checksum != cat.checksum


async def test_changed_configuration_applies_to_next_search() -> None:
    index = await notes(a="cat", b="the cat", c="a cat")
    settings = [replace(PLAIN, limit=1)]
    search = HybridSearch(index, lambda: settings[-1], FakeClock(), time_zone=UTC)
    assert len((await search.search("cat")).found) == 1
    settings.append(replace(PLAIN, limit=2))
    assert len((await search.search("cat")).found) > 0
    assert [count for _, count, _ in index.asked] == [4, 8]
