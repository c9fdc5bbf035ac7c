"""Describes a Plotly figure in one line, from the JSON in a cell's output."""

from __future__ import annotations

import array
import base64
import binascii
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from onyx_jupyter.notebook.kernel_probe.axes import as_label, format_number

PLOTLY = "application/vnd.plotly.v1+json"
_VALUES = 12
_TRACES = 8
_MAX_CHARS = 1_500
_TYPES = dict(zip(("f8", "f4", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"), "dfbhiqBHIQ", strict=True))
_MIDNIGHT = re.compile(r"T00:00:00(?:\.0+)?$")


def describe_plotly(figure: Any) -> str:
    """`title "…"; x "…"; bars "…": a 1, b 2`; empty if it is not a figure."""
    if not isinstance(figure, Mapping) or not isinstance(figure.get("data"), list):
        return ""
    layout = _mapping(figure.get("layout"))
    traces = [trace for trace in figure["data"] if isinstance(trace, Mapping)]
    parts = [_titled("title", layout)]
    parts += [_titled(name, _mapping(layout.get(f"{name}axis"))) for name in "xy"]
    parts += [_trace(trace) for trace in traces[:_TRACES]] or ["nothing is drawn in it"]
    parts += [f"and {len(traces) - _TRACES} more"] if len(traces) > _TRACES else []
    return "; ".join(part for part in parts if part)[:_MAX_CHARS]


def _trace(trace: Mapping[str, Any]) -> str:
    kind = str(trace.get("type") or "scatter").removesuffix("gl")
    label = f' "{as_label(trace["name"])}"' if isinstance(trace.get("name"), str) and trace["name"] else ""
    x, y = _values(trace.get("x")), _values(trace.get("y"))
    match kind:
        case "bar":
            return f"bars{label}: {_pairs(*((y, x) if trace.get('orientation') == 'h' else (x, y)))}"
        case "pie":
            return f"pie{label}: {_pairs(_values(trace.get('labels')), _values(trace.get('values')))}"
        case "scatter":
            what = "points" if trace.get("mode") == "markers" else "line"
            return f"{what}{label}: {len(y)} points, x {_range(x)}, y {_range(y)}"
        case "histogram" | "box" | "violin":
            values = (x or y) if kind == "histogram" else (y or x)
            return f"{kind}{label} of {len(values)} values {_range(values)}"
        case _:
            return f"{as_label(kind)}{label}"


def _pairs(names: Sequence[Any], values: Sequence[Any]) -> str:
    """Each name with its value; for many, only the highest and the lowest."""
    pairs = [(_word(name), value) for name, value in zip(names, values, strict=False) if _is_number(value)]
    if len(pairs) <= _VALUES:
        return ", ".join(f"{name} {format_number(value)}" for name, value in pairs)
    ends = [extreme(pairs, key=lambda pair: pair[1]) for extreme in (max, min)]
    high, low = (f"at {name} with {format_number(value)}" for name, value in ends)
    return f"{len(pairs)} of them, the highest {high}, the lowest {low}"


def _range(values: Sequence[Any]) -> str:
    numbers = [value for value in values if _is_number(value)]
    if numbers:
        return f"from {format_number(min(numbers))} to {format_number(max(numbers))}"
    texts = [value for value in values if isinstance(value, str)]
    return f"from {_moment(min(texts))} to {_moment(max(texts))}" if texts else "unknown"


def _values(given: Any) -> Sequence[Any]:
    """A list unchanged; numbers that Plotly packed into base64 are unpacked."""
    if isinstance(given, list):
        return given
    packed = _mapping(given)
    code = _TYPES.get(str(packed.get("dtype", "")).lstrip("<|="))
    if code is None or not isinstance(packed.get("bdata"), str):
        return []
    try:
        numbers = array.array(code, base64.b64decode(packed["bdata"], validate=True))
    except (binascii.Error, ValueError):
        return []
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0


def _word(name: Any) -> str:
    return format_number(name) if _is_number(name) else _moment(name)


def _titled(name: str, layout: Mapping[str, Any]) -> str:
    title = layout.get("title")
    text = title if isinstance(title, str) else _mapping(title).get("text")
    return f'{name} "{as_label(text)}"' if isinstance(text, str) and text.strip() else ""


def _moment(text: Any) -> str:
    """A date without a midnight time; any other text unchanged."""
    return as_label(_MIDNIGHT.sub("", str(text)))
