"""What a reader would not see stands as a mark, alike on both sides; ordinary writing has none."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.security import character_tables
from onyx_jupyter.security.visible_characters import kinds_in, marks, with_marks

# labextension/tests/visible_characters.test.ts holds the front end to the same answers.
CASES = json.loads((Path(__file__).parents[2] / "labextension/tests/visible_characters.json").read_text("utf-8"))
_MARK = re.compile("⟨U\\+([0-9A-F]+)(?:×([0-9]+))?⟩")


def without_marks(text: str) -> str:
    """What a reader of the marks can write down again."""
    return _MARK.sub(lambda mark: chr(int(mark[1], 16)) * int(mark[2] or 1), text)


def test_marks_match_front_end_in_every_case():
    assert [[text, with_marks(text)] for text, _ in CASES] == CASES


@pytest.mark.parametrize(
    "prose",
    [
        "Café, naïve, e\u0301 – “quoted” … 3×4 m² №5",
        "👩\u200d💻 ❤️ 1️⃣ 👍🏽 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "Привет, мир! PDF-файл",
        "Καλημέρα κόσμε, ρ_air = τ0",
        "中文\u3000好，API，한국어 日本語",
        "می\u200cخواهم क्\u200dष",
        "kapı ışık það",
    ],
)
def test_ordinary_text_has_no_marks(prose):
    assert marks(prose) == []
    assert with_marks(prose) == prose


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("if a\u202e ⁦# } ⁦", "if a⟨U+202E⟩ ⟨U+2066⟩# } ⟨U+2066⟩"),
        ("echo safe\rrm -rf ~", "echo safe⟨U+000D⟩rm -rf ~"),
        ("p\u0430ypal.com", "p⟨U+0430⟩ypal.com"),
        ("\u0430_count", "⟨U+0430⟩_count"),
        ("example.com\u2044@evil", "example.com\u2044@evil"),
        ("example\u2044evil", "example⟨U+2044⟩evil"),
        ("\u200b" * 3, "⟨U+200B×3⟩"),
        ("x\ufe0f", "x⟨U+FE0F⟩"),
        ("hi\U000e0041\U000e0042", "hi⟨U+E0041⟩⟨U+E0042⟩"),
        ("⟨U+202E⟩", "⟨U+27E8⟩U+202E⟩"),
    ],
)
def test_deceptive_characters_are_marked(text, shown):
    assert with_marks(text) == shown


@given(
    st.text(
        st.sampled_from("ab \n\r\t⟨⟩U+20×аρé\u202e\u200b\u200d\ufe0f\U0001f600\U000e0041\u00a0\u3000中")
        | st.characters()
    )
)
def test_text_can_be_restored_from_marks(text):
    assert without_marks(with_marks(text)) == text


def test_nested_json_is_checked_completely():
    assert kinds_in({"a": ["x", {"b\u202e": 1}], "c": ("p\u0430y", "a\u00a0b")}) == {"invisible", "look_alike", "space"}
    assert kinds_in({"a": ["é", 1, None, True]}) == set()


def test_front_end_has_the_same_tables(tmp_path, monkeypatch, capsys):
    assert character_tables.main(["--check"]) == 0
    monkeypatch.setattr(character_tables, "TARGET", tmp_path / "tables.ts")
    assert character_tables.main(["--check"]) == 1
    assert "python -m onyx_jupyter.security.character_tables" in capsys.readouterr().err
    assert character_tables.main([]) == 0
    assert character_tables.main(["--check"]) == 0
