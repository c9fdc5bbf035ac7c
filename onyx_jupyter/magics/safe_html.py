"""Untrusted Markdown and HTML as HTML that any front end may insert directly: nothing in it loads or runs.

A trusted notebook's front end sanitises nothing, and front ends disagree on what in Markdown is code. So parsing is
done here, once: raw tags become text, and the rest passes the same allow-list as in the sidebar
(`labextension/src/rendering/allowed_html.json`). Formulas stay source, since the page's MathJax accepts any command.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# fmt: off
ELEMENTS = frozenset({
    "a", "abbr", "b", "blockquote", "br", "caption", "code", "dd", "del", "details", "div", "dl", "dt", "em",
    "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q",
    "s", "samp", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "u", "ul", "var",
})
# fmt: on
ATTRIBUTES = {
    "a": frozenset({"href"}),
    "abbr": frozenset({"title"}),
    "details": frozenset({"open"}),
    "img": frozenset({"alt", "src"}),
    "ol": frozenset({"reversed", "start"}),
    "td": frozenset({"align", "colspan", "rowspan"}),
    "th": frozenset({"align", "colspan", "rowspan"}),
}
SCHEMES = frozenset({"http", "https", "mailto"})
PICTURES = ("png", "jpeg", "gif", "webp")
MAX_PICTURE_CHARS = 400_000
# MathJax and KaTeX look for formulas in any text they find, but never across an element.
_FORMULA_SIGNS = re.compile(r"[$\\]")
_IGNORED_BY_MATHJAX = "mathjax_ignore tex2jax_ignore"
_PICTURE = re.compile(rf"data:image/(?:{'|'.join(PICTURES)});base64,[A-Za-z0-9+/=\s]*", re.IGNORECASE)
_LINK = re.compile(r'<a href="([^"]*)"[^>]*>(.*?)</a>', re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def markdown_html(markdown: str, pages: Collection[str] = ()) -> str:
    """HTML of the Markdown; `pages` are addresses within Jupyter that Onyx itself made and that may be links."""
    return _framed(_parser().render(markdown), pages)


def clean_html(page: str) -> str:
    """The part of the HTML that may be shown, such as a table made by pandas."""
    return _framed(page, ())


def without_controls(text: str) -> str:
    """Text for a terminal, which would act on control characters: each is shown escaped."""
    return _UNSEEN.sub(lambda found: f"\\x{ord(found[0]):02x}", text.replace("\r\n", "\n"))


def _framed(page: str, pages: Collection[str]) -> str:
    import nh3

    def kept(element: str, attribute: str, value: str) -> str | None:
        if attribute == "href":
            return value if value in pages or _scheme(value) in SCHEMES else None
        if attribute == "src":
            return value if _is_small_picture(value) else None
        return value

    cleaned = nh3.clean(
        page,
        tags=set(ELEMENTS),
        attributes={"*": set()} | {element: set(names) for element, names in ATTRIBUTES.items()},
        attribute_filter=kept,
        clean_content_tags={"script", "style", "template", "noscript", "title"},
        url_schemes={*SCHEMES, "data"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
        strip_comments=True,
    )
    shown = _without_formulas(_LINK.sub(_with_target, cleaned))
    return f'<div class="{_IGNORED_BY_MATHJAX}">{shown}</div>'


def _without_formulas(cleaned: str) -> str:
    """Clean HTML in which no text holds both ends of a formula: each sign gets its own element."""
    pieces = re.split(r"(<[^>]*>)", cleaned)
    return "".join(
        piece if number % 2 else _FORMULA_SIGNS.sub(lambda found: f"<span>{found[0]}</span>", piece)
        for number, piece in enumerate(pieces)
    )


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("image", _picture_as_link)
    return parser


def _picture_as_link(renderer: Any, tokens: Sequence[Any], index: int, options: Any, environment: Any) -> str:
    """A picture's address can leak what the model has read, so it becomes a link that the user may open."""
    words, source = tokens[index].content, html.escape(str(tokens[index].attrs.get("src", "")))
    if _is_small_picture(source):
        return f'<img src="{source}" alt="{html.escape(words)}">'
    return f'<a href="{source}">{html.escape(words) or source}</a>'


def _with_target(link: re.Match[str]) -> str:
    """The link, followed by its host if its words do not say it."""
    host = _host(html.unescape(link[1]))
    words = html.unescape(_TAG.sub("", link[2])).strip()
    # A name before the host (`https://bank.example@evil.example`) is mistaken for the host.
    is_said = not host or words == host or ("@" not in words and _host(words) == host)
    return link[0] if is_said else f"{link[0]} ({html.escape(host)})"


def _host(address: str) -> str:
    try:
        parts = urlsplit(address)
        return parts.netloc.rpartition("@")[2] if parts.netloc else parts.path if parts.scheme == "mailto" else ""
    except ValueError:
        return ""


def _is_small_picture(address: str) -> bool:
    return len(address) <= MAX_PICTURE_CHARS and _PICTURE.fullmatch(address) is not None


def _scheme(address: str) -> str:
    found = re.match(r"([a-z][a-z0-9+.-]*):", address, re.IGNORECASE)
    return found[1].lower() if found else ""
