"""A value in a few words. It runs in the kernel, and what it does not know it names by its type."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import enum
import fractions
import itertools
import pathlib
import types
import uuid
from typing import Any

from onyx_jupyter.notebook.kernel_probe.access import (
    MISSING,
    Look,
    class_field,
    fields,
    from_library,
    is_a,
    is_exactly,
    is_of,
    is_text,
    loaded,
    module_of,
    names_of,
    type_name,
)

MAX_CHARS = 100
MAX_BITS = 256
_ENTRIES = 6
_DEPTH = 2
_BRACKETS = {list: "[]", tuple: "()", set: "{}", frozenset: "{}", dict: "{}", collections.deque: "[]"}
_BY_TEXT = (decimal.Decimal, fractions.Fraction, uuid.UUID, dt.date, dt.timedelta, dt.timezone)
_PATHS = (pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.PosixPath, pathlib.WindowsPath)
_MOMENTS = (dt.datetime, dt.time)


def short(value: Any, look: Look, most: int = MAX_CHARS, depth: int = _DEPTH) -> str:
    """What `repr` would say, as far as no class of the user's is asked; at most `most` characters."""
    text = _short(value, look, most, depth)
    return text if len(text) <= most else text[: most - 1] + "…"


def label(value: Any, look: Look) -> str:
    """A column's or key's name: text as it is."""
    return cut(value, MAX_CHARS) if is_text(value) else short(value, look)


def cut(text: Any, most: int) -> str:
    """The beginning of a text, also of one whose class is the user's."""
    size = str.__len__(text)
    head: str = str.__getitem__(text, slice(0, most))
    return str(head) if size <= most else str(head)[: most - 1] + "…"


def hidden(value: Any) -> str:
    """What is told of a secret."""
    size = length(value)
    return "hidden" + (f", length {size:,}" if size is not None else "")


def length(value: Any) -> Any:
    """How many entries or characters, by the built-in type's own count; None where it has none."""
    kinds: tuple[Any, ...] = (str, bytes, bytearray, range, *_BRACKETS)
    for kind in kinds:
        if is_a(type(value), (kind,)):
            return kind.__len__(value)
    return None


def entries(value: Any, most: int) -> list[Any]:
    """The first entries of a built-in container or of one derived from it: of a dictionary its pairs."""
    kinds: tuple[Any, ...] = tuple(_BRACKETS)
    for kind in kinds:
        if is_a(type(value), (kind,)):
            source = dict.items(value) if kind is dict else kind.__iter__(value)
            try:
                return list(itertools.islice(source, most))
            except RuntimeError:  # it changes while it is read
                return []
    return []


def plain_number(value: Any) -> Any:
    """A NumPy scalar as Python's own, anything else as it is."""
    if is_of(value, "numpy", "generic") and from_library(type(value)):
        return value.item()
    return value


def _short(value: Any, look: Look, most: int, depth: int) -> str:
    cls = type(value)
    if value is None or value is Ellipsis or cls is bool:
        return repr(value)
    if is_a(cls, (enum.Enum,)):
        return f"{type_name(cls)}.{fields(value).get('_name_')}"
    if is_of(value, "numpy", "generic"):
        return _short_scalar(value, look, most, depth)
    if is_a(cls, (int, float, complex)):
        return _short_number(value)
    if is_a(cls, (str, bytes, bytearray)):
        kind: Any = next(one for one in (str, bytes, bytearray) if is_a(cls, (one,)))
        text = repr(kind.__getitem__(value, slice(0, most)))
        return text if kind.__len__(value) <= most else text[:-1] + "…"
    if any(is_a(cls, (one,)) for one in _BRACKETS):
        return _short_container(value, look, depth)
    if is_a(cls, (type,)):
        return f"class {type_name(value)}"
    return _short_known(value) or f"<{type_name(cls)}>"


def _short_number(value: Any) -> str:
    if is_a(type(value), (int,)):
        bits = int.bit_length(value)
        return int.__repr__(value) if bits <= MAX_BITS else f"an integer of {bits:,} bits"
    return float.__repr__(value) if is_a(type(value), (float,)) else complex.__repr__(value)


def _short_scalar(value: Any, look: Look, most: int, depth: int) -> str:
    if not from_library(type(value)):
        return f"<{type_name(type(value))}>"
    if is_of(value, "numpy", "datetime64", "timedelta64"):
        return str(value)
    plain = value.item()
    return f"<{type_name(type(value))}>" if type(plain) is type(value) else short(plain, look, most, depth)


def _short_container(value: Any, look: Look, depth: int) -> str:
    cls = type(value)
    kind: Any = next(kind for kind in _BRACKETS if is_a(cls, (kind,)))
    opened, closed = _BRACKETS[kind][0], _BRACKETS[kind][1]
    size = kind.__len__(value)
    if depth <= 0 and size:
        return f"{opened}…{closed}"
    if kind is dict:
        shown = [
            f"{short(key, look, 40, depth - 1)}: "
            f"{hidden(entry) if look.hides(key, entry) else short(entry, look, 60, depth - 1)}"
            for key, entry in entries(value, _ENTRIES)
        ]
    else:
        shown = [short(entry, look, 60, depth - 1) for entry in entries(value, _ENTRIES)]
    rest = [f"… {size - len(shown):,} more"] if size > len(shown) else []
    return opened + ", ".join(shown + rest) + closed


def _short_known(value: Any) -> str:
    """Values of the standard library and of pandas that say themselves in one line; else empty."""
    cls = type(value)
    if any(cls is one for one in (*_BY_TEXT, *_PATHS)):
        return str(value)
    if any(cls is one for one in _MOMENTS):
        zone = type(value.tzinfo)
        is_known = module_of(zone).split(".")[0] in ("builtins", "datetime", "zoneinfo", "pytz", "dateutil")
        return value.isoformat() if is_known else f"<{type_name(cls)}>"
    if cls is range:
        return repr(value)
    names = ("Timestamp", "Timedelta", "Period", "Interval")
    if value is loaded("pandas", "NA") or value is loaded("pandas", "NaT"):
        return str(value)
    if any(cls is kind for kind in (loaded("pandas", name) for name in names)):
        return str(value)
    if cls is types.ModuleType:
        return f"module {fields(value).get('__name__')}"
    return _short_code(value)


def _short_code(value: Any) -> str:
    if type(value) is types.FunctionType:
        return f"function {value.__name__}"
    if type(value) is types.BuiltinFunctionType:
        return f"function {value.__name__}"
    if type(value) is types.MethodType and type(value.__func__) is types.FunctionType:
        return f"method {value.__func__.__name__}"
    return ""


def documentation(value: Any) -> str:
    """The docstring, where there is one."""
    if is_a(type(value), (type,)):
        found = names_of(value).get("__doc__")
    elif is_exactly(value, types.FunctionType, types.BuiltinFunctionType):
        found = value.__doc__
    elif type(value) is types.MethodType and type(value.__func__) is types.FunctionType:
        found = value.__func__.__doc__
    else:
        found = fields(value).get("__doc__") or class_field(type(value), "__doc__")
    return "" if found is MISSING or type(found) is not str else found
