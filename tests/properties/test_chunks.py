"""Chunks of any text: nothing is lost, lines are right, sizes are kept, and the same text gives the same chunks."""

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.retrieval.chunking import ChunkSize, chunk_children, chunk_markdown
from onyx_jupyter.text_tokens import text_tokens

PIECES = st.sampled_from(
    [
        "# Title",
        "### Deep ###",
        "Under\n---",
        "---\nname: x\n---",
        "```py\n# no heading\n\nx = 1\n```",
        "~~~\nnever ends",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
        "- item one\n  goes on\n- item two",
        "> quoted `code` text.",
        "Dr. Smith left. He was 3.14 m tall! Why?",
        "数据分析笔记本。逐个单元格地工作，并在更改之前询问。",
        "한국어 텍스트입니다. 노트북의 셀을 하나씩 실행합니다.",
        "👩‍👩‍👧‍👦🏳️‍🌈e\u0301" * 20,
        "word " * 60,
        "x" * 300,
        "",
        "\t",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=40), max_size=14).flatmap(
    lambda parts: st.sampled_from(["\n", "\n\n", "\r\n", " "]).map(lambda joint: joint.join(parts))
)
SIZES = st.sampled_from([ChunkSize(16, 0), ChunkSize(24, 8), ChunkSize(60, 20), ChunkSize(400, 80)])


def written(text: str) -> str:
    return "".join(text.split())


@given(TEXTS, SIZES)
def test_chunks_cover_every_character_at_their_lines(text, size):
    lines = text.replace("\r\n", "\n").split("\n")
    reached, covered = 0, set()
    for chunk in chunk_markdown(text, size=size):
        assert 1 <= chunk.start_line <= chunk.end_line <= len(lines)
        assert chunk.text in "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        assert chunk.start_line >= reached
        reached = chunk.start_line
        covered.update(range(chunk.start_line, chunk.end_line + 1))
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= covered


@given(TEXTS, st.sampled_from([16, 60, 400]))
def test_without_overlap_chunks_concatenate_to_text(text, max_tokens):
    chunks = chunk_markdown(text, size=ChunkSize(max_tokens, 0))
    assert written("".join(chunk.text for chunk in chunks)) == written(text)


@given(TEXTS, SIZES)
def test_chunks_are_within_size_nonempty_and_deterministic(text, size):
    chunks = chunk_markdown(text, title="t.md", size=size)
    assert all(chunk.text.strip() and text_tokens(chunk.text) <= size.max_tokens for chunk in chunks)
    assert all(len(chunk.context) <= 300 for chunk in chunks)
    assert chunk_markdown(text, title="t.md", size=size) == chunks


@given(TEXTS, st.booleans())
def test_child_is_within_its_parent(text, markdown):
    children = chunk_children(text, markdown=markdown, parent=ChunkSize(80, 0), child=ChunkSize(24, 6))
    lines = text.replace("\r\n", "\n").split("\n")
    for child in children:
        assert child.parent is not None
        assert child.parent[0] <= child.start_line <= child.end_line <= child.parent[1]
        assert text_tokens(child.text) <= 24
    covered = {number for child in children for number in range(child.start_line, child.end_line + 1)}
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= covered
