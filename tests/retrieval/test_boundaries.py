"""Sentence boundaries in several scripts."""

import itertools

import pytest

from onyx_jupyter.retrieval.boundaries import sentence_starts


def sentences(text: str) -> list[str]:
    starts = [0, *sentence_starts(text), len(text)]
    return [text[start:end].strip() for start, end in itertools.pairwise(starts) if text[start:end].strip()]


@pytest.mark.parametrize(
    "parts",
    [
        ["Dr. Smith met Mrs. Jones.", "They left!", "Why?"],
        ["It costs 3.14 dollars, e.g. at Fig. 3 there.", "Then 2.5."],
        ["“Why?” he asked.", "Nobody knew."],
        ["She said “Go.”", "He went."],
        ["J. R. R. Tolkien wrote it in 1937.", "It sold well."],
        ["Das gilt z. B. am 3. Mai, d. h. bald.", "Gut."],
        ["Wait… what?", "Nothing."],
        ["See v1.2.3 of example.org.", "Done."],
        ["他走了。", "她说：“好！”", "然后呢？", "没有。"],
        ["彼は「行く。」", "と言った。"],
        ["圆周率是３．１４左右。", "对。"],
        ["यह एक वाक्य है।", "यह दूसरा है।"],
        ["هل هذا صحيح؟", "نعم."],
    ],
)
def test_sentence_boundaries(parts: list[str]) -> None:
    spaced = all(ord(part[0]) < 0x3000 for part in parts)
    assert sentences((" " if spaced else "").join(parts)) == parts
