"""An answer below a cell loads nothing by being shown, and its code is as it was."""

import pytest

from onyx_jupyter.magics.safe_markdown import safe_markdown
from onyx_jupyter.magics.turn_state import Said, TurnState
from onyx_jupyter.magics.turn_view import markdown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("![a](https://x/?q=1)", "[a](https://x/?q=1)"),
        ("![a][ref]\n\n[ref]: https://x", "[a][ref]\n\n[ref]: https://x"),
        ("<img src=//x> <VIDEO src=x></VIDEO>", "&lt;img src=//x> &lt;VIDEO src=x>&lt;/VIDEO>"),
        ('<p style="background:url(//x)">', '&lt;p style="background:url(//x)">'),
        ("`![a](b)` and ``<img `> ``", "`!\u200b[a](b)` and ``<\u200bimg `> ``"),
        ("```html\n<img src=x>\n```\n<img>", "```html\n<img src=x>\n```\n&lt;img>"),
        ("~~~\n![a](b)\n~~~\n![a](b)", "~~~\n![a](b)\n~~~\n[a](b)"),
        ("```\n<img> not closed", "```\n<img> not closed"),
        ("a ` b ![c](d)", "a ` b [c](d)"),
        ("**x** $a<b$ <br> 1 < 2 !", "**x** $a<b$ <br> 1 < 2 !"),
    ],
)
def test_what_would_be_loaded_is_only_named(text: str, expected: str) -> None:
    assert safe_markdown(text) == expected


@pytest.mark.parametrize(
    "before",
    [
        "\\`",  # no code: the tick is a character
        "`a\n\n",  # no code goes on over an empty line
        "!",
        "- ```\n",  # the block ends with the list's entry
        "- a\n\n  ```\n",
        "> ```\n",
        "   ```\n```\n",  # the second line ends the block
        "    ```\n",
        "``` `\n",  # no fence: its first line holds a tick
        "```\n```~\n```\n",  # front ends disagree on the second line
        "```\n```\t\n```\n",
        "$$\n```\n$$\n",  # a formula
        "<http://a`b> ",  # an address
        '<a title="`">',
    ],
)
@pytest.mark.parametrize("after", ["`", "\n```", ""])
def test_what_only_looks_like_code_loads_nothing_either(before: str, after: str) -> None:
    assert "![" not in safe_markdown(f"{before}![a](https://x/?q=1){after}")


@pytest.mark.parametrize(
    "text", ["<div>\n```\n<img src=//x>\n```\n</div>", '<p title=">" style="background:url(//x)">']
)
def test_html_inside_or_across_what_looks_like_code_loads_nothing(text: str) -> None:
    shown = safe_markdown(text)
    assert "<img" not in shown
    assert "<p" not in shown


def test_a_block_that_one_part_of_an_answer_leaves_open_hides_nothing_of_the_next() -> None:
    state = TurnState()
    state.parts = [Said("```\nopen"), Said("```\n![a](https://x/?q=1)\n```")]
    assert "![" not in markdown(state)
