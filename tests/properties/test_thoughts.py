"""Separating thoughts from the answer, over any stream and chunking."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.protocols import ModelDone
from onyx_jupyter.providers.thoughts import ThinkingHabit, ThoughtSplitter
from onyx_jupyter.testing.collected import Collected

MARK = "\u2603"  # in thoughts only, so that it shows whatever gets through
PIECES = st.sampled_from(["<", "</", "<th", "think", ">", "\n", " ", "<b>", "a", "&lt;", "<<", "/", "\n\n", "."])
TAGS = ("<think>", "</think>")
WORDS = st.lists(PIECES, max_size=8).map("".join).filter(lambda text: not any(tag in text for tag in TAGS))
CUTS = st.lists(st.integers(0, 10_000), max_size=12)
ENDS = st.sampled_from(["\n\n", "\n", " "])


def told(text, cuts, *, silent=False, is_whole=True):
    splitter = ThoughtSplitter(ThinkingHabit(silent))
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    pieces = [text[start:end] for start, end in itertools.pairwise(places)]
    events = [event for piece in pieces for event in splitter.feed(piece)]
    collected = Collected((*events, *splitter.finish(is_whole=is_whole), ModelDone()))
    return collected.thought, collected.text


@given(st.booleans(), st.booleans(), WORDS, WORDS, ENDS, CUTS)
def test_thoughts_and_answer_do_not_depend_on_chunking(is_opened, silent, inside, answer, end, cuts):
    thought = f"{MARK}{inside}{MARK}"
    text = f"{'<think>' if is_opened else ''}{thought}</think>{end}{answer}"
    if all(tag not in f"{inside}{MARK}" for tag in TAGS):
        assert told(text, cuts, silent=silent) == (thought, answer.lstrip())
        assert told(text, range(len(text)), silent=silent) == (thought, answer.lstrip())


@given(st.text(alphabet="<>/think `\n", max_size=60) | WORDS, CUTS, st.booleans())
def test_answer_without_tag_is_unchanged(text, cuts, silent):
    if not any(tag in text for tag in TAGS):
        assert told(text, cuts, silent=silent) == ("", text)


@given(st.lists(PIECES | st.sampled_from([*TAGS, "`", "```\n", "\n```\n"]), max_size=14).map("".join), CUTS, st.data())
def test_any_stream_is_parsed_independently_of_chunking(text, cuts, data):
    silent, is_whole = data.draw(st.booleans()), data.draw(st.booleans())
    whole = told(text, (), silent=silent, is_whole=is_whole)
    assert told(text, cuts, silent=silent, is_whole=is_whole) == whole
    assert told(text, range(len(text)), silent=silent, is_whole=is_whole) == whole
