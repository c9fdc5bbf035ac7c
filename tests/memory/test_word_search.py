"""What a search by words finds, in which order, and where it says that it stands."""

from pathlib import Path

import pytest

from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.word_search import search_words
from onyx_jupyter.testing.fake_clock import FakeClock

NOTES = "# Work\n\nThe fiscal year starts in April.\nReports are due in May.\n\n## Home\n- The cat is called Mo.\n"


def found(texts: dict[str, str], query: str, limit: int = 10) -> list[tuple[str, str]]:
    return [(passage.path, passage.snippet) for passage in search_words(texts, query, limit)]


def test_passage_is_named_by_lines_and_heading() -> None:
    (passage,) = search_words({"a.md": NOTES}, "cat", 10)
    assert (passage.start_line, passage.end_line, passage.heading) == (7, 7, "Home")
    (passage,) = search_words({"a.md": NOTES}, "reports", 10)
    assert (passage.start_line, passage.end_line, passage.heading) == (3, 4, "Work")
    assert NOTES.splitlines()[2:4] == passage.snippet.splitlines()


def test_lines_are_an_editors_whatever_separators_occur() -> None:
    text = "# Work\r\n\r\none\x0ctwo\x85three\u2028four\r\n\r\nThe cat is called Mo.\r\n"
    (passage,) = search_words({"a.md": text}, "cat", 10)
    assert (passage.start_line, passage.end_line, passage.snippet) == (5, 5, "The cat is called Mo.")


def test_more_and_rarer_matching_words_rank_first() -> None:
    texts = {
        "a.md": "The plan is the plan.\n\nThe budget of March.\n\nThe plan for the budget.\n\nThe plan again.",
    }
    assert [text for _, text in found(texts, "budget plan")] == [
        "The plan for the budget.",
        "The budget of March.",
        "The plan is the plan.",
        "The plan again.",
    ]
    scores = [passage.score for passage in search_words(texts, "budget plan", 10)]
    assert scores[0] == 1.0
    assert all(0 < score <= 1 for score in scores)


def test_word_prefix_matches_unless_short() -> None:
    assert found({"a.md": "Two quarters."}, "quarter")
    assert found({"a.md": "A category."}, "cat") == []


def test_newest_of_equal_passages_comes_first_within_limit() -> None:
    days = {f"memory/2026-01-0{day}.md": "Met Ada." for day in (2, 1, 3)}
    assert [path for path, _ in found(days, "ada", 2)] == ["memory/2026-01-03.md", "memory/2026-01-02.md"]


def test_empty_query_finds_nothing() -> None:
    assert found({"a.md": NOTES}, "?!") == []
    assert found({}, "cat") == []


async def test_only_agents_own_files_are_searched(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("Ada likes tea.")
    (workspace / "memory" / "2026-01-01.md").write_bytes(b"\xff\xfe not text")
    (workspace / "notes.txt").write_text("Ada")
    outside = tmp_path / "outside.md"
    outside.write_text("Ada outside")
    (workspace / "link.md").symlink_to(outside)
    memory = MemoryFiles(workspace, FakeClock())
    assert [passage.path for passage in await memory.search("ada", 10)] == ["MEMORY.md"]


@pytest.mark.parametrize("error", [PermissionError(13, "denied"), OSError(5, "broken"), FileNotFoundError(2, "gone")])
async def test_unreadable_file_does_not_affect_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    (tmp_path / "MEMORY.md").write_text("Ada likes tea.")
    refused = tmp_path / "USER.md"
    refused.write_text("Ada is here.")
    read = Path.read_bytes

    def refusing(file: Path) -> bytes:
        if file == refused:
            raise error
        return read(file)

    monkeypatch.setattr(Path, "read_bytes", refusing)
    found = await MemoryFiles(tmp_path, FakeClock()).search("ada", 10)
    assert [passage.path for passage in found] == ["MEMORY.md"]


def test_score_is_share_of_word_weights_in_passage() -> None:
    """By hand: of three passages one holds budget, two hold plan; ln(1 + 4/1.5) = 1.2993, ln(1 + 4/2.5) = 0.9555."""
    texts = {"a.md": "The budget.\n\nThe plan.\n\nAnother plan."}
    scores = {passage.snippet: passage.score for passage in search_words(texts, "budget plan", 10)}
    assert scores == {"The budget.": 0.5762, "The plan.": 0.4238, "Another plan.": 0.4238}
