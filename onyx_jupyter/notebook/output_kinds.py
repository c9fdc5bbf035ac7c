"""Classifies outputs in one word."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from onyx_jupyter.notebook.outputs import joined

OutputKind = Literal["text", "table", "image", "error"]
_WIDGET = "application/vnd.jupyter.widget-view+json"
_CHARTS = ("vega", "plotly", "bokeh")
# Reading leaves images out: the text next to them tells.
_PICTURE = re.compile(r"<(Figure size|IPython\.core\.display\.(Image|SVG)|PIL\.)")


def output_kind(output: Mapping[str, Any]) -> OutputKind:
    """One of the four kinds that can be asked for; anything else is text."""
    if output.get("output_type") == "error":
        return "error"
    data = output.get("data") or {}
    if any(mime_type.startswith("image/") for mime_type in data) or _PICTURE.match(joined(data.get("text/plain", ""))):
        return "image"
    if not data and output.get("output_type") == "display_data":
        return "image"
    return "table" if "<table" in joined(data.get("text/html", "")) else "text"


def output_words(outputs: Sequence[Mapping[str, Any]]) -> str:
    """The kinds of a cell's outputs, each once: `table, image`, `error ZeroDivisionError`."""
    return ", ".join(dict.fromkeys(map(_word, outputs)))


def _word(output: Mapping[str, Any]) -> str:
    data = output.get("data") or {}
    if _WIDGET in data:
        return "widget"
    if any(chart in mime_type for mime_type in data for chart in _CHARTS):
        return "chart"
    kind = output_kind(output)
    name = str(output.get("ename", ""))[:40]
    return f"error {name}".strip() if kind == "error" else kind
