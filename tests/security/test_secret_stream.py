"""An answer that streams: no piece of a secret is ever seen, and nothing else waits for long."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onyx_jupyter.security.secret_redactor import SecretRedactor, SecretStream
from tests.security.secret_samples import MIXED, ORDINARY, PEM, SECRETS, WEAK

FILTER = SecretRedactor({"correct horse battery": "lab-key", "Tr0ub4dor&3": "environment"})
BEGINNINGS = [text[:size] for text, _ in SECRETS.values() for size in (1, 3, len(text) // 2, len(text) - 1)]
WEAK_BEGINNINGS = [text[:size] for text, _, _ in WEAK for size in (len(text) // 2, len(text) - 1)]
KEY_PARTS = [
    *PEM.split("\n"),
    "Proc-Type: 4,ENCRYPTED\n",
    "Comment: a key\n",
    "=aB3d\n",
    "-----BEGIN PRIVATE KEY-----\n",
]
PIECES = st.sampled_from(
    [
        *(text for text, _ in SECRETS.values()), *ORDINARY, *BEGINNINGS,
        *(text for text, _, _ in WEAK), *WEAK_BEGINNINGS,
        *KEY_PARTS, "password", "TOKEN=", "-u ", "$(", "${", "$", "&", ":5432:", "\\n", "\t", "   7\t", "sk-", "eyJ",
        "correct horse battery", "correct horse", "Tr0ub4dor&3", " ", "\n", "=", '"', ": ", "İ", "日本語の文章",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=12), max_size=6).map("".join)


def streamed(text: str, cuts: list[int]) -> list[str]:
    stream = SecretStream(FILTER)
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    shown = [stream.feed(text[start:end]) for start, end in pairwise(places)]
    return [*shown, stream.finish()]


@given(TEXTS, st.lists(st.integers(0, 2000), max_size=40))
@example(f"x sk-proj-{MIXED}", list(range(60)))
@example(PEM + PEM, list(range(0, 300, 7)))
@example("Authorization: Bearer a8F3kd93jfK30dkfj39dkfQ2w7Zx61TnDB_PASSWORD = ", list(range(80)))
@example('password = "Kd93jfK30!sk-" and more', list(range(40)))
@example('pwd="token-Kd93jfK30!xyz" ', list(range(40)))
@example("machine lab.org\n     2\t  login ada\n     3\t  password lovelace", [45])
@example("authorization: Basic YWRhOmxvdmVsYWNlMTg0Mw=\u0130", [])
@example("Bpassword: hunter2x9", [2])
def test_streamed_text_equals_redacted_whole_however_chunked(text, cuts):
    assert "".join(streamed(text, cuts)) == FILTER.apply(text)


@given(st.sampled_from(sorted(SECRETS)), st.text(max_size=8), st.text(max_size=8), st.lists(st.integers(0, 400)))
def test_no_part_of_a_secret_is_in_a_delta(kind, before, after, cuts):
    text, hidden = SECRETS[kind]
    pieces = streamed(f"{before} {text} {after}", cuts)
    for size in range(6, len(hidden) + 1):
        assert hidden[:size] not in "".join(pieces)


@pytest.mark.parametrize("text", ["Hello there", "The answer is 42. ", "See the plot below (cell 3)", "好的，我来看看"])
def test_ordinary_text_streams_immediately(text):
    assert SecretStream(FILTER).feed(text) == text


def test_only_possible_secrets_are_held_back_and_released_if_none():
    stream = SecretStream(FILTER)
    assert stream.feed("Install scikit: sk-") == "Install scikit: "
    assert stream.feed("learn it") == "sk-learn it"
    assert stream.feed(" correct horse") == " "
    assert stream.feed(" riding") == "correct horse riding"
