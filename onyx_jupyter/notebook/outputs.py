"""Converts nbformat outputs to compact text and images for a model."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.messages import Attachment
from onyx_jupyter.notebook.html_table import markdown_table
from onyx_jupyter.notebook.plotly_figure import PLOTLY, describe_plotly

MAX_IMAGES = 8
MAX_IMAGE_CHARS = 7_000_000
_OWN = "application/vnd.onyx."
_TRACEBACK_HEAD = 6
_TRACEBACK_TAIL = 24
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml")
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_TAG = re.compile(r"<(style|script)\b.*?</\1\s*>|<[^>]*>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RenderedOutputs:
    """`text` within the budget; `truncated` says whether it was cut."""

    text: str
    attachments: tuple[Attachment, ...]
    truncated: bool


def render_outputs(outputs: Sequence[Mapping[str, Any]], max_chars: int) -> RenderedOutputs:
    """All outputs of a cell, in order. Images become attachments, each replaced by a line in the text."""
    parts: list[str] = []
    images: list[Attachment] = []
    for output in outputs:
        image = _image(output)
        if image is not None:
            parts.append(_image_line(output, image, images))
            continue
        text = _text(output)
        if text.strip():
            parts.append(text.rstrip())
    text = "\n".join(parts)
    return RenderedOutputs(shorten(text, max_chars), tuple(images), len(text) > max_chars)


def shorten(text: str, max_chars: int) -> str:
    """Head and tail of a text, `max_chars` together, with a line between them that says how much is missing."""
    if len(text) <= max_chars:
        return text
    if max_chars <= 0:
        return f"[… {len(text)} characters left out …]"
    head, tail = text[: (max_chars + 1) // 2], text[len(text) - max_chars // 2 :]
    return f"{head}\n[… {len(text) - max_chars} characters left out …]\n{tail}"


def collapse_overwritten(text: str) -> str:
    """What a terminal would still show: a line rewritten after a carriage return (progress bars) counts once."""
    if "\r" not in text:
        return text
    return "\n".join(_visible(line) for line in text.replace("\r\n", "\n").split("\n"))


def plain(text: str) -> str:
    """The text without colours and other terminal codes."""
    return _ANSI.sub("", text)


def _visible(line: str) -> str:
    shown = ""
    for part in line.split("\r"):
        shown = part + shown[len(part) :]
    return shown


def _image(output: Mapping[str, Any]) -> Attachment | None:
    data = output.get("data") or {}
    mime_type = next((mime for mime in _IMAGES if mime in data), None)
    if mime_type is None:
        return None
    content = joined(data[mime_type])
    if mime_type == "image/svg+xml":
        content = base64.b64encode(content.encode("utf-8", "replace")).decode("ascii")
    return Attachment(type="image", mime_type=mime_type, data="".join(content.split()))


def _image_line(output: Mapping[str, Any], image: Attachment, images: list[Attachment]) -> str:
    caption = joined((output.get("data") or {}).get("text/plain", "")).strip()
    shown = f"[{image.mime_type}{': ' + caption if caption and len(caption) < 200 else ''}]"
    if len(images) >= MAX_IMAGES or len(image.data) > MAX_IMAGE_CHARS:
        return f"{shown} (not attached: too many or too large)"
    images.append(image)
    return shown


def _text(output: Mapping[str, Any]) -> str:
    match output.get("output_type"):
        case "stream":
            text = plain(collapse_overwritten(joined(output.get("text", ""))))
            return f"stderr:\n{text}" if output.get("name") == "stderr" and text.strip() else text
        case "error":
            return _error(output)
        case _:
            return _data(output.get("data") or {})


def _error(output: Mapping[str, Any]) -> str:
    headline = f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
    traceback = output.get("traceback") or []
    # A browser tab sends it as one text, cut to fit a frame.
    lines = plain(traceback if isinstance(traceback, str) else "\n".join(map(str, traceback))).splitlines()
    lines = [line for line in lines if line.strip("-") or not line]  # drops IPython's rule above it
    if not lines:
        return headline
    if len(lines) > _TRACEBACK_HEAD + _TRACEBACK_TAIL:
        left_out = len(lines) - _TRACEBACK_HEAD - _TRACEBACK_TAIL
        lines = [*lines[:_TRACEBACK_HEAD], f"[… {left_out} lines left out …]", *lines[-_TRACEBACK_TAIL:]]
    text = "\n".join(lines)
    return text if str(output.get("ename", "")) in text else f"{text}\n{headline}"


def _data(data: Mapping[str, Any]) -> str:
    if any(mime_type.startswith(_OWN) for mime_type in data) and "text/plain" in data:
        return plain(joined(data["text/plain"]))  # an answer below a cell: its Markdown, even if that contains a table
    if PLOTLY in data and (told := describe_plotly(data[PLOTLY])):
        return f"[figure: {told}]"
    if "text/markdown" in data:
        return joined(data["text/markdown"])
    if "<table" in (html := joined(data.get("text/html", ""))) and (table := markdown_table(html)):
        return table
    if "text/plain" in data:
        return plain(joined(data["text/plain"]))
    if html:
        return " ".join(_TAG.sub(" ", html).split())
    for mime_type in ("text/latex", "application/json"):
        if mime_type in data:
            return joined(data[mime_type])
    return f"[{', '.join(data)}]" if data else ""


def joined(value: Any) -> str:
    """An nbformat multi-line string as one string; anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(value)
    return json.dumps(value, ensure_ascii=False)
