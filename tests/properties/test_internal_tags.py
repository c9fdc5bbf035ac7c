"""Internal text is removed from any answer, however it is chunked."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.agent.processors.internal_tags import InternalTagFilter
from onyx_jupyter.agent.processors.silent_reply import SilentReplyFilter

MARK = "\u2603"  # in hidden parts only, so that it shows whatever gets through
PIECES = st.sampled_from(["<", "</", "<int", "internal", ">", "`", "\n", " ", "<b>", "a", "&lt;", "<<", "/"])
OUTSIDE = st.lists(PIECES, max_size=6).map("".join).filter(lambda text: "internal" not in text)
INSIDE = st.lists(PIECES, max_size=6).map("".join).filter(lambda text: "internal" not in text and "`" not in text)
HIDDEN = st.tuples(st.sampled_from(["<internal>", "<Internal >", '<internal a="b">']), INSIDE, st.booleans())


def fed(text_filter, text, cuts):
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    pieces = [text[start:end] for start, end in itertools.pairwise(places)]
    return "".join([*map(text_filter.feed, pieces), text_filter.finish()])


@given(st.lists(st.tuples(OUTSIDE, HIDDEN), max_size=4), OUTSIDE, st.lists(st.integers(0, 10_000), max_size=12))
def test_tagged_text_never_passes_however_chunked(parts, end, cuts):
    text = ""
    for outside, (opening, inside, is_closed) in parts:
        text += f"{outside}{opening}{MARK}{inside}{MARK}" + ("</internal>" if is_closed else "")
    text += end
    seen = fed(InternalTagFilter(), text, cuts)
    assert MARK not in seen
    one_by_one = fed(InternalTagFilter(), text, range(len(text)))
    assert seen.lstrip() == one_by_one.lstrip(), "one character at a time shows something else"


@given(st.text(alphabet="<>/internal `\n", max_size=60), st.lists(st.integers(0, 10_000), max_size=12))
def test_answer_without_tag_is_unchanged(text, cuts):
    if "<internal" not in text and "</internal" not in text:
        assert fed(InternalTagFilter(), text, cuts) == text


@given(
    st.sampled_from(["NO_REPLY", " NO_REPLY\n", "NO_REPLY.", "NO", "NO_REPLY NO_REPLY"])
    | st.text("NO_REPLY ", max_size=12),
    st.data(),
)
def test_only_exact_token_is_silent_and_other_answers_are_complete(text, data):
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    assert fed(SilentReplyFilter(), text, cuts) == ("" if text.strip() == "NO_REPLY" else text)
