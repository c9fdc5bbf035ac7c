"""An answer's Markdown without anything that a front end would fetch by showing it. What is code stays as it is.

A picture's address can carry away what the model has read, so it becomes a link that a person may click.
"""

from __future__ import annotations

import re

_CODE = re.compile(
    r"(^ {0,3}(?P<fence>`{3,}|~{3,}).*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))",
    re.MULTILINE | re.DOTALL,
)
_PICTURE = re.compile(r"!(?=\[)")
_LOADS = re.compile(
    r"<(?=/?(?:img|image|video|audio|source|track|picture|iframe|input|embed|object|link|style|svg|script|base|meta)\b)",
    re.IGNORECASE,
)
_STYLE = re.compile(r"<(?=[a-z][^>]*\bstyle\s*=)", re.IGNORECASE)


def safe_markdown(text: str) -> str:
    """The same words; pictures are links, and HTML that would load something is shown as text."""
    parts = []
    place = 0
    for found in _CODE.finditer(text):
        parts += [_without_loading(text[place : found.start()]), found[0]]
        place = found.end()
    return "".join([*parts, _without_loading(text[place:])])


def _without_loading(text: str) -> str:
    return _STYLE.sub("&lt;", _LOADS.sub("&lt;", _PICTURE.sub("", text)))
