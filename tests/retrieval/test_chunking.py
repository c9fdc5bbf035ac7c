"""Where Markdown and prose are cut, and what a chunk is told about where it stands."""

import itertools
from datetime import date

import pytest

from onyx_jupyter.retrieval.chunking import (
    CHILD_SIZE,
    NOTE_SIZE,
    PARENT_SIZE,
    ChunkSize,
    chunk_children,
    chunk_markdown,
    fingerprint,
)
from onyx_jupyter.text_tokens import text_tokens

SMALL = ChunkSize(40, 10)
SENTENCES = [f"Sentence number {number} tells of a place by the sea." for number in range(12)]


def lines_of(text: str, size: ChunkSize = SMALL) -> list[tuple[int, int]]:
    return [(chunk.start_line, chunk.end_line) for chunk in chunk_markdown(text, size=size)]


def test_chunk_has_one_heading_path() -> None:
    text = "# Projects\nAll.\n\n## Onyx ##\nIt lives in Jupyter.\n\n### Memory\nPlain files.\n\n## Other\nNothing.\n"
    assert [(chunk.heading, chunk.start_line, chunk.end_line) for chunk in chunk_markdown(text)] == [
        ("Projects", 1, 2),
        ("Projects › Onyx", 4, 5),
        ("Projects › Onyx › Memory", 7, 8),
        ("Projects › Other", 10, 11),
    ]


def test_heading_without_text_joins_the_next() -> None:
    (chunk,) = chunk_markdown("# Projects\n\n## Onyx\n\nIt lives in Jupyter.\n")
    assert chunk.text == "# Projects\n\n## Onyx\n\nIt lives in Jupyter."
    assert chunk.heading == "Projects › Onyx"
    (alone,) = chunk_markdown("# Only a title\n")
    assert (alone.text, alone.heading) == ("# Only a title", "Only a title")


def test_empty_heading_is_not_cited_with_next_section() -> None:
    text = "# Memory\n\n## Ada\n\n## Places\n\n## Projects\n\n### Onyx\n\nIn Jupyter.\n\n## Later\n\n# End\n"
    assert [(chunk.heading, chunk.start_line, chunk.end_line) for chunk in chunk_markdown(text)] == [
        ("Memory › Places", 1, 5),
        ("Memory › Projects › Onyx", 7, 11),
        ("End", 13, 15),
    ]
    assert lines_of("# Same\n\n# Same\ntext") == [(1, 1), (3, 4)]


def test_headings_without_text_are_kept_together() -> None:
    (chunk,) = chunk_markdown("## Call Ada\n## Buy milk\n---\n### Oats too\n")
    assert chunk.text == "## Call Ada\n## Buy milk\n---\n### Oats too"


def test_setext_headings_count_and_rule_after_list_does_not() -> None:
    text = "Title\n=====\nA.\n\nPart\n----\nB.\n\n- item\n---\nC.\n"
    assert [chunk.heading for chunk in chunk_markdown(text)] == ["Title", "Title › Part"]


def test_context_is_date_title_and_headings() -> None:
    (chunk,) = chunk_markdown("# Projects\n## Onyx\nx\n", title="memory/2026-11-02.md", day=date(2026, 11, 2))
    assert chunk.context == "2026-11-02, 2 November 2026 · memory/2026-11-02.md · Projects › Onyx"
    (plain,) = chunk_markdown("x")
    assert (plain.context, plain.heading) == ("", "")


def test_fence_stays_whole_and_its_hashes_are_no_headings() -> None:
    fence = "```python\n# not a heading\n\nprint('```')\n- no item\n```"
    text = f"# Code\n{SENTENCES[0]}\n{SENTENCES[1]}\n\n{fence}\n\n{SENTENCES[2]}\n"
    chunks = chunk_markdown(text, size=SMALL)
    assert [fence in chunk.text for chunk in chunks].count(True) == 1
    assert not [chunk for chunk in chunks if "print" in chunk.text and fence not in chunk.text]
    assert {chunk.heading for chunk in chunks} == {"Code"}


def test_long_fence_is_cut_between_lines_and_unclosed_one_takes_the_rest() -> None:
    code = [f"value_{number} = compute({number})" for number in range(30)]
    chunks = chunk_markdown("~~~~\n" + "\n".join(code) + "\n~~~\n# still code\n", size=SMALL)
    assert len(chunks) > 3
    assert {chunk.heading for chunk in chunks} == {""}
    assert all(line in {*code, "~~~~", "~~~", "# still code"} for chunk in chunks for line in chunk.text.split("\n"))


def test_table_rows_stay_whole_with_column_names() -> None:
    rows = [f"| city {number} | {number * 1000} people |" for number in range(12)]
    text = "\n".join(["# Cities", "| name | people |", "|------|-------:|", *rows])
    first, *others = chunk_markdown(text, title="t.md", size=SMALL)
    assert others
    assert first.context == "t.md · Cities"
    assert {chunk.context for chunk in others} == {"t.md · Cities · | name | people |"}
    assert all(line in rows for chunk in others for line in chunk.text.split("\n"))


def test_front_matter_is_one_piece() -> None:
    chunks = chunk_markdown("---\nname: x\n\n# a comment\n---\n# Title\nText.\n")
    assert [(chunk.text, chunk.heading) for chunk in chunks] == [
        ("---\nname: x\n\n# a comment\n---", ""),
        ("# Title\nText.", "Title"),
    ]
    assert [chunk.heading for chunk in chunk_markdown("---\n# Title\nText.\n")] == ["Title"]


def test_fitting_list_items_stay_together_and_are_never_cut() -> None:
    items = [f"- item {number} says a little,\n  and this belongs to it" for number in range(6)]
    chunks = chunk_markdown("\n".join(items), size=SMALL)
    assert len(chunks) > 1
    assert "".join(chunk.text for chunk in chunks).count("- item") >= len(items)
    assert all(chunk.text.startswith("- item") and chunk.text.endswith("to it") for chunk in chunks)


def test_chunk_repeats_last_sentences_of_previous_within_overlap() -> None:
    chunks = chunk_markdown(" ".join(SENTENCES), size=ChunkSize(45, 20))
    assert len(chunks) > 3
    for one, other in itertools.pairwise(chunks):
        assert other.text.split(". ")[0] in one.text
    without = chunk_markdown(" ".join(SENTENCES), size=ChunkSize(40, 0))
    assert " ".join(chunk.text for chunk in without) == " ".join(SENTENCES)


def test_nothing_is_repeated_across_headings() -> None:
    text = "\n\n".join(f"## Part {number}\n{SENTENCES[number]}" for number in range(4))
    assert lines_of(text) == [(1, 2), (4, 5), (7, 8), (10, 11)]


@pytest.mark.parametrize(
    "text", ["word " * 3000, "x" * 20_000, "数据分析" * 3000, "e\u0301" * 5000, "👩‍👩‍👧‍👦" * 1000, "1234567890," * 2000]
)
def test_very_long_line_is_cut_and_keeps_its_line_number(text: str) -> None:
    chunks = chunk_markdown(f"# T\n{text}\nend")
    assert all(text_tokens(chunk.text) <= 400 for chunk in chunks)
    assert all(chunk.start_line == chunk.end_line == 2 for chunk in chunks[1:-1])
    assert chunks[-1].end_line == 3
    assert not [chunk for chunk in chunks if chunk.text.startswith("\u0301")]


def test_lines_match_file_for_any_line_ending() -> None:
    text = "# A\r\n\r\none\x0ctwo\u2028three\r\n\r\n# B\r\nlast"
    assert lines_of(text) == [(1, 3), (5, 6)]
    assert chunk_markdown(text)[1].text == "# B\nlast"


@pytest.mark.parametrize("text", ["", " \n\t\n", "\n\n\n"])
def test_empty_text_has_no_chunks(text: str) -> None:
    assert chunk_markdown(text) == chunk_children(text) == []


def test_children_are_small_and_have_lines_of_their_parent() -> None:
    text = "# Report\n" + "\n\n".join(f"{sentence} {sentence} {sentence}" for sentence in SENTENCES * 6)
    children = chunk_children(text)
    parents = sorted({chunk.parent for chunk in children if chunk.parent})
    assert len(children) > len(parents) > 1
    assert all(text_tokens(chunk.text) <= CHILD_SIZE.max_tokens for chunk in children)
    for chunk in children:
        assert chunk.parent is not None
        assert chunk.parent[0] <= chunk.start_line <= chunk.end_line <= chunk.parent[1]
    lines = text.split("\n")
    passages = ["\n".join(lines[start - 1 : end]) for start, end in parents]
    assert all(text_tokens(passage) <= PARENT_SIZE.max_tokens for passage in passages)
    assert parents[0][0] == 1
    assert parents[-1][1] == len(lines)
    assert all(one[1] < other[0] for one, other in itertools.pairwise(parents))


def test_other_size_has_other_fingerprint() -> None:
    assert fingerprint(NOTE_SIZE) == fingerprint(ChunkSize(400, 80))
    assert len({fingerprint(NOTE_SIZE), fingerprint(SMALL), fingerprint(PARENT_SIZE, CHILD_SIZE)}) == 3


def test_overlap_as_large_as_chunk_is_rejected() -> None:
    with pytest.raises(ValueError, match="less than a chunk"):
        ChunkSize(80, 80)
