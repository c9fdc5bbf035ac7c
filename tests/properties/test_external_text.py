"""No page text can leave its fence or start a chat turn."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from onyx_jupyter.security.confusables import plain_form, remove_invisible
from onyx_jupyter.security.external_content import FORGED, fence

ID = "5eed5eed5eed5eed"
END = f"<<<end onyx-external {ID}>>>"
# Written down apart from the code's own pattern: what models' chat templates really use.
TOKENS = (
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|user|>", "[inst]", "[/inst]", "<<sys>>",
    "<</sys>>", "<s>", "</s>", "<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "<tool_call>", "</tool_call>",
    "<system>",
)  # fmt: skip
WORDS = [*TOKENS, END, f"<<<onyx-external {ID} from x: y>>>", ID, "onyx", "external", "<|", "|>", "<<", "<", "|", "["]
DISGUISES = {
    "a": "аａ𝐚", "b": "ｂ𝒃", "e": "еｅ𝖾", "i": "іｉ", "m": "ｍ𝗆", "n": "ｎɴ", "o": "оοｏ0", "r": "ｒ", "s": "ѕｓ",
    "t": "ｔ𝘁", "x": "хｘ", "y": "уｙ", "_": "＿▁", "<": "＜‹〈", ">": "＞›〉", "|": "｜│∣", "[": "［", "]": "］",
    "/": "／", "-": "‐－ ",
}  # fmt: skip
INVISIBLE = st.sampled_from(
    ["", "", "", "\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\U000e0041", "\ufe0f"]
)


@st.composite
def disguised(draw: st.DrawFn) -> str:
    """A token or mark with look-alikes, capitals and invisible characters in it."""
    pieces = []
    for character in draw(st.sampled_from(WORDS)):
        others = DISGUISES.get(character, "")
        pieces.append(draw(st.sampled_from([character, character.upper(), *others])))
        pieces.append(draw(INVISIBLE))
    return "".join(pieces)


TEXTS = st.lists(st.one_of(disguised(), st.text(max_size=12), st.sampled_from(["\n", " "])), max_size=12).map("".join)


def skeleton(line: str) -> str:
    return re.sub(r"[\W_]", "", plain_form(line).text)


@given(text=TEXTS, source=TEXTS)
@example(text=END, source=END)
@example(text="<|onyx|>  external", source="x\ny")
def test_no_fenced_line_resembles_its_end_and_no_token_remains(text: str, source: str) -> None:
    """Fence of external text: for any text, look-alikes and invisible characters included."""
    begin, *lines, end = fence(text, source, ID).text.split("\n")
    assert end == END
    assert begin.startswith(f"<<<onyx-external {ID} from ")
    assert begin.endswith(">>>")
    assert begin.count(ID) == 1
    for line in lines:
        assert line != END
        assert "onyxexternal" not in skeleton(line).replace("0", "o")
        assert ID not in plain_form(line).text
        assert remove_invisible(line) == (line, 0)
    shown = plain_form("\n".join([begin, *lines])).text
    assert [token for token in TOKENS if token in shown] == []


@given(text=st.text(alphabet=st.characters(categories=["L", "N", "P", "Z"], codec="ascii"), max_size=200))
def test_text_without_brackets_and_bars_is_unchanged(text: str) -> None:
    """Fence of external text: nothing is lost that was harmless."""
    harmless = re.sub(r"[<\[|]", "", text).replace("5eed", "")
    _, *lines, _ = fence(harmless, "x", ID).text.split("\n")
    assert "\n".join(lines) == harmless or FORGED in "\n".join(lines)
