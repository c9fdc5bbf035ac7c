"""An answer below a cell loads nothing by being shown, and its code is as it was."""

import pytest

from onyx_jupyter.magics.safe_markdown import safe_markdown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("![a](https://x/?q=1)", "[a](https://x/?q=1)"),
        ("![a][ref]\n\n[ref]: https://x", "[a][ref]\n\n[ref]: https://x"),
        ("<img src=//x> <VIDEO src=x></VIDEO>", "&lt;img src=//x> &lt;VIDEO src=x>&lt;/VIDEO>"),
        ('<p style="background:url(//x)">', '&lt;p style="background:url(//x)">'),
        ("`![a](b)` and ``<img `> ``", "`![a](b)` and ``<img `> ``"),
        ("```html\n<img src=x>\n```\n<img>", "```html\n<img src=x>\n```\n&lt;img>"),
        ("~~~\n![a](b)\n~~~\n![a](b)", "~~~\n![a](b)\n~~~\n[a](b)"),
        ("```\n<img> not closed", "```\n<img> not closed"),
        ("a ` b ![c](d)", "a ` b [c](d)"),
        ("**x** $a<b$ <br> 1 < 2 !", "**x** $a<b$ <br> 1 < 2 !"),
    ],
)
def test_what_would_be_loaded_is_only_named(text: str, expected: str) -> None:
    assert safe_markdown(text) == expected
