"""What is put below a cell loads and runs nothing, whichever front end inserts it as it is."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from onyx_jupyter.magics import safe_html
from onyx_jupyter.magics.safe_html import clean_html, markdown_html, without_controls
from onyx_jupyter.magics.shown_data import output_data, shown_outputs, text_data
from tests.e2e.rendering.corpus import Payload, payloads

LIST = Path(__file__).parents[2] / "labextension/src/rendering/allowed_html.json"
FRAME = ("div", {"class": "mathjax_ignore tex2jax_ignore"})
LINK = {"target": "_blank", "rel": "noopener noreferrer nofollow"}


class Elements(HTMLParser):
    """Every element with its attributes, and the text outside of code."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._code = 0
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._code += tag in ("code", "pre")

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in ("code", "pre")

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.texts.append(data)


def assert_harmless(page: str) -> None:
    parsed = Elements(page)
    assert parsed.found[0] == FRAME
    for element, attributes in parsed.found[1:]:
        assert element in safe_html.ELEMENTS
        if element == "a":
            assert {name: attributes.pop(name) for name in LINK} == LINK
        assert set(attributes) <= safe_html.ATTRIBUTES.get(element, frozenset())
        assert (attributes.get("href") or "https:").startswith(("http:", "https:", "mailto:"))
        assert (attributes.get("src") or "data:image/").startswith("data:image/")
    # A formula has two signs in one text: no text has more than one, and that stands alone.
    assert all(text in ("$", "\\") or not set("$\\") & set(text) for text in parsed.texts)


@pytest.mark.parametrize("payload", payloads(), ids=lambda payload: payload.name)
def test_no_payload_leaves_active_content(payload: Payload) -> None:
    assert_harmless(markdown_html(payload.text))
    assert_harmless(clean_html(payload.text))
    bundle = text_data(payload.text)
    assert set(bundle) == {"text/html", "text/plain"}  # no Markdown, which a front end would parse in its own way
    data = {"text/html": payload.text, "text/markdown": payload.text, "application/javascript": payload.text}
    shown, _ = output_data({"output_type": "display_data", "data": data, "metadata": {}})
    assert set(shown) == {"text/html"}
    assert_harmless(shown["text/html"])


def test_allow_list_is_the_sidebars() -> None:
    shared = json.loads(LIST.read_text("utf-8"))
    assert set(shared["elements"]) == safe_html.ELEMENTS
    assert {element: set(names) for element, names in shared["attributes"].items()} == {
        element: set(names) for element, names in safe_html.ATTRIBUTES.items()
    }
    assert set(shared["schemes"]) == safe_html.SCHEMES
    assert tuple(shared["pictures"]) == safe_html.PICTURES
    assert shared["maxPictureChars"] == safe_html.MAX_PICTURE_CHARS


@pytest.mark.parametrize(
    ("markdown", "inside"),
    [
        ("**x** and `<b>`", "<p><strong>x</strong> and <code>&lt;b&gt;</code></p>"),
        ("```python\n1 < 2\n```", "<pre><code>1 &lt; 2\n</code></pre>"),
        ("<details open ontoggle=x()>y", "&lt;details open ontoggle=x()&gt;y"),
        ("costs $5", "costs <span>$</span>5"),
        ("| a |\n|---|\n| 1 |", "<td>1</td>"),
        ("~~no~~", "<s>no</s>"),
    ],
)
def test_answer_keeps_its_formatting(markdown: str, inside: str) -> None:
    assert inside in markdown_html(markdown)


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("![plot](https://evil.example/?q=1)", ">plot</a> (evil.example)"),
        ("[https://bank.example](https://evil.example)", ">https://bank.example</a> (evil.example)"),
        ("<https://a.example/b>", ">https://a.example/b</a></p>"),
        ("[a.example](https://a.example/b)", ">a.example</a></p>"),
        ("[a](https://me@evil.example)", ">a</a> (evil.example)"),
        ("[/login](https://evil.example/login)", ">/login</a> (evil.example)"),
        ("<https://bank.example@evil.example/>", "</a> (evil.example)"),
        ("[a@b.example](mailto:a@b.example)", ">a@b.example</a></p>"),
    ],
)
def test_link_shows_its_target(markdown: str, shown: str) -> None:
    assert shown in markdown_html(markdown)


def test_jupyter_page_is_linked_only_if_created_by_us() -> None:
    markdown = "[copy](/lab/tree/Onyx%3Aruns/x.ipynb)"
    assert "href" not in markdown_html(markdown)
    assert 'href="/lab/tree/Onyx%3Aruns/x.ipynb"' in markdown_html(markdown, ["/lab/tree/Onyx%3Aruns/x.ipynb"])


def test_pandas_table_stays_a_table() -> None:
    page = '<div><style scoped>.a{}</style><table border="1" class="dataframe"><tr><td>1</td></tr></table></div>'
    assert "<table><tbody><tr><td>1</td></tr></tbody></table>" in clean_html(page)
    assert ".a{}" not in clean_html(page)


def test_active_outputs_are_named_and_left_out() -> None:
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "a"}, "text/latex": "$\\style{a}{b}$"}
    (shown,) = shown_outputs([{"output_type": "display_data", "data": widget, "metadata": {}}])
    assert set(shown["data"]) == {"text/plain"}
    assert "application/vnd.jupyter.widget-view+json" in shown["data"]["text/plain"]


def test_svg_is_shown_as_image() -> None:
    drawing = {"image/svg+xml": ["<svg onload='x()'>", "</svg>"]}
    shown, _ = output_data({"output_type": "display_data", "data": drawing, "metadata": {}})
    assert shown["text/html"].startswith('<img alt="" src="data:image/svg+xml;base64,')


def test_terminal_gets_no_control_characters() -> None:
    assert without_controls("a\x1b]52;c;x\x07b\r\nc\td") == "a\\x1b]52;c;x\\x07b\nc\td"
