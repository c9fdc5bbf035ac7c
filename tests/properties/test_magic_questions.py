"""A magic's question is sent as typed, whatever it contains, and options never swallow it."""

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.magics.arguments import MagicCall, Options, parse
from onyx_jupyter.magics.interpolation import interpolate
from onyx_jupyter.magics.safe_html import markdown_html
from onyx_jupyter.magics.tool_words import block, code
from tests.magics.test_safe_html import Elements, assert_harmless

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=80)
WORD = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "agent": WORD,
        "session": WORD,
        "model": WORD.map(lambda word: f"openai/{word}"),
        "mode": st.sampled_from(["ask", "agent", "auto"]),
        "code": st.just(True),
    },
)


@given(OPTIONS, TEXT, st.randoms(use_true_random=False))
def test_option_order_does_not_change_question(options: dict[str, object], question: str, random) -> None:  # type: ignore[no-untyped-def]
    written = [f"--{name}" if value is True else f"--{name} {value}" for name, value in options.items()]
    random.shuffle(written)
    line = " ".join([*written, "--", question])
    assert parse(line) == MagicCall(Options(**options), "", question.strip())  # type: ignore[arg-type]


@given(TEXT, TEXT, TEXT)
def test_doubled_braces_are_literal_and_values_are_not_interpolated(before: str, value: str, after: str) -> None:
    def doubled(text: str) -> str:
        return text.replace("{", "{{").replace("}", "}}")

    asked = interpolate(f"{doubled(before)}{{ x }}{doubled(after)}", {"x": value}, str)
    assert asked == f"{before}{value}{after}"


@given(TEXT)
def test_text_cannot_escape_code_or_add_images(text: str) -> None:
    found = Elements(markdown_html(f"{code(text or 'x')}\n\n{block(text)}"))
    assert {element for element, _ in found.found} <= {"div", "p", "code", "pre", "span"}
    plain = text.replace("`", "").replace("~", "")
    for shown in (markdown_html(f"{plain} ![a](b)"), markdown_html(f"{plain} <img src=x>")):
        assert_harmless(shown)
        assert "<img" not in shown
