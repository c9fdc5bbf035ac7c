"""Output below a cell: data in formats that every front end accepts, and that do nothing when shown."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from onyx_jupyter.magics.safe_html import clean_html, markdown_html, without_controls

_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_LEFT_OUT = "[Not shown here: {}. The executed copy of the notebook has it.]"


def text_data(markdown: str, pages: Collection[str] = ()) -> dict[str, str]:
    """Markdown as HTML and as text; `pages` are addresses within Jupyter that may be links."""
    return {"text/html": markdown_html(markdown, pages), "text/plain": without_controls(markdown)}


def shown_outputs(outputs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A notebook's outputs (nbformat) with only the data that may be shown."""
    return [{**output, "data": _shown(output["data"])} if "data" in output else dict(output) for output in outputs]


def output_data(output: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """An nbformat output as data and metadata that can be published: streams and errors as text."""
    match output["output_type"]:
        case "stream":
            return {"text/plain": _joined(output["text"])}, {}
        case "error":
            return {"text/plain": "\n".join(output["traceback"]) or f"{output['ename']}: {output['evalue']}"}, {}
        case _:
            data = _shown(output["data"])
            metadata = {kind: value for kind, value in (output.get("metadata") or {}).items() if kind in data}
            return data, metadata


def _shown(data: Mapping[str, Any]) -> dict[str, Any]:
    """Pictures, text, and the HTML and Markdown that the allow-list permits."""
    given = {kind: _joined(value) for kind, value in data.items()}
    shown: dict[str, Any] = {kind: given[kind] for kind in (*_PICTURES, "text/plain") if kind in given}
    if isinstance(page := given.get("text/html"), str):
        shown["text/html"] = clean_html(page)
    elif isinstance(markdown := given.get("text/markdown"), str):
        shown["text/html"] = markdown_html(markdown)
    elif isinstance(drawing := given.get("image/svg+xml"), str) and not any(kind in shown for kind in _PICTURES):
        # As a picture it neither runs nor loads anything.
        encoded = base64.b64encode(drawing.encode()).decode()
        shown["text/html"] = f'<img alt="" src="data:image/svg+xml;base64,{encoded}">'
    return shown or {"text/plain": _LEFT_OUT.format(", ".join(given) or "nothing")}


def _joined(value: Any) -> Any:
    """nbformat may store a text as a list of lines."""
    return "".join(value) if isinstance(value, list) and all(isinstance(line, str) for line in value) else value
