"""Changes a cell of a shared document (`YNotebook`) in place, only where it differs. It opens no transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onyx_jupyter.protocols import NbCell


def edit_source(cell: Any, source: str) -> None:
    """Replaces only what differs, so that the cursors of users who type in the cell stay where they are."""
    _patch(cell["source"], source)


def restore_cell(cell: Any, wanted: NbCell) -> None:
    """Makes the shared cell equal to `wanted`, which is of the same type."""
    edit_source(cell, str(wanted["source"]))
    _update(cell["metadata"], wanted["metadata"])
    if wanted["cell_type"] == "code":
        _set_outputs(cell, wanted["outputs"])
        cell["execution_count"] = wanted["execution_count"]
    elif wanted.get("attachments"):
        cell["attachments"] = wanted["attachments"]
    elif "attachments" in cell:
        del cell["attachments"]


def _patch(text: Any, wanted: str) -> None:
    """Replaces what differs. A shared text counts in UTF-8 bytes."""
    now = str(text)
    start = _same(now, wanted)
    end = _same(now[start:][::-1], wanted[start:][::-1])
    gone, new = now[start : len(now) - end], wanted[start : len(wanted) - end]
    at = len(now[:start].encode())
    if gone:
        del text[at : at + len(gone.encode())]
    if new:
        text.insert(at, new)


def _same(one: str, other: str) -> int:
    """The length of the common prefix, by bisection: comparing slices is far faster than single characters."""
    same, most = 0, min(len(one), len(other))
    while same < most:
        middle = (same + most + 1) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same


def _update(shared: Any, wanted: Mapping[str, Any]) -> None:
    now = shared.to_py()
    for key in now.keys() - wanted.keys():
        del shared[key]
    for key, value in wanted.items():
        if key not in now or now[key] != value:
            shared[key] = value


def _set_outputs(cell: Any, wanted: Sequence[Mapping[str, Any]]) -> None:
    """Keeps unchanged outputs; a stream that has grown gets only the new part."""
    shared = cell["outputs"]
    now = shared.to_py()
    outputs = [_with_one_text(output) for output in wanted]
    same = 0
    while same < min(len(now), len(outputs)) and now[same] == outputs[same]:
        same += 1
    if same < len(outputs) and same == len(now) - 1 and _has_grown(now[same], outputs[same]):
        shown = str(now[same]["text"])
        shared[same]["text"].insert(len(shown.encode()), str(outputs[same]["text"])[len(shown) :])
        same += 1
    if same < len(now):
        del shared[same:]
    new_map, new_text = type(cell), type(cell["source"])  # so that no package is imported that may be missing
    for output in outputs[same:]:
        text = {"text": new_text(output["text"])} if output["output_type"] == "stream" else {}
        shared.append(new_map({**output, **text}))


def _has_grown(now: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    is_stream = now.get("output_type") == wanted["output_type"] == "stream" and now.get("name") == wanted["name"]
    return is_stream and str(wanted["text"]).startswith(str(now["text"]))


def _with_one_text(output: Mapping[str, Any]) -> dict[str, Any]:
    text = output.get("text")
    return {**output, "text": "".join(text)} if isinstance(text, list) else dict(output)
