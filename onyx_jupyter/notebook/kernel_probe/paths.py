"""From `model.coef_` or `df["price"]` to the object, without calling anything. It runs in the kernel."""

from __future__ import annotations

import ast
import types
from typing import Any

from onyx_jupyter.notebook.kernel_probe.access import (
    MISSING,
    class_field,
    fields,
    from_library,
    is_a,
    is_exactly,
    is_of,
    is_plain,
    type_name,
)
from onyx_jupyter.notebook.kernel_probe.summaries import numpy_array, pandas_frame, pandas_series

_MAX_STEPS = 20


class UnresolvablePath(Exception):
    """The path is none, leads nowhere, or would run code; the message says which."""


def follow(path: str, names: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The object, and the way to it: each name or key with what it led to. Raises: UnresolvablePath."""
    try:
        node: Any = ast.parse(path.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UnresolvablePath(f"{path!r} is not a name; give one such as df, model.coef_ or data['key'].") from None
    steps: list[Any] = []
    while not isinstance(node, ast.Name):
        if len(steps) >= _MAX_STEPS or not isinstance(node, (ast.Attribute, ast.Subscript)):
            raise UnresolvablePath(
                f"{path!r} would run code. Only names, attributes and constant keys are looked up; kernel_execute "
                "runs anything else."
            )
        steps.append(("attribute", node.attr) if isinstance(node, ast.Attribute) else ("key", _constant(node, path)))
        node = node.value
    if node.id not in names:
        raise UnresolvablePath(f"There is no variable {node.id!r} in the kernel.")
    value = names[node.id]
    way = [(node.id, value)]
    for kind, step in reversed(steps):
        value = _attribute(value, step) if kind == "attribute" else _entry(value, step)
        way.append((step, value))
    return value, way


def _constant(node: ast.Subscript, path: str) -> Any:
    inside: Any = node.slice
    if type(inside).__name__ == "Index":  # Python 3.8
        inside = inside.value
    try:
        return ast.literal_eval(inside)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise UnresolvablePath(f"The key in {path!r} is not a constant.") from None


def _attribute(value: Any, name: str) -> Any:
    own = fields(value)
    if name in own:
        return own[name]
    cls = type(value)
    if is_a(cls, (type,)):
        held = class_field(value, name)
    else:
        held = class_field(cls, name)
    frame = pandas_frame(value)
    if held is MISSING and frame is not None and name in list(frame.columns):
        return _entry(value, name)
    if held is MISSING:
        raise UnresolvablePath(f"A {type_name(cls)} has no attribute {name!r} that could be read without running code.")
    if type(held) is types.MemberDescriptorType and not is_a(cls, (type,)):
        try:
            return held.__get__(value)
        except AttributeError:
            raise UnresolvablePath(f"{name!r} of this {type_name(cls)} was never set.") from None
    if type(held) is types.FunctionType and not is_a(cls, (type,)):
        return types.MethodType(held, value)
    if is_exactly(held, staticmethod, classmethod):
        return held.__func__
    if not hasattr(type(held), "__get__") or type(held) is types.FunctionType:
        return held
    if from_library(cls) and is_plain(cls):  # a library's own property, such as df.shape
        return getattr(value, name)
    raise UnresolvablePath(
        f"{name!r} is a property of {type_name(cls)}: reading it would run its code. kernel_execute can."
    )


def _entry(value: Any, key: Any) -> Any:
    try:
        return _found_entry(value, key)
    except (LookupError, TypeError, ValueError, OverflowError):
        raise UnresolvablePath(f"There is no key {key!r}.") from None


def _found_entry(value: Any, key: Any) -> Any:
    cls = type(value)
    frame, series, array = pandas_frame(value), pandas_series(value), numpy_array(value)
    if frame is not None:
        return frame.iloc[:, list(frame.columns).index(key)]
    if series is not None:
        return series.loc[key]
    if array is not None:
        return array[key]
    if is_a(cls, (dict,)):
        found = dict.get(value, key, MISSING)
        if found is MISSING:
            raise KeyError(key)
        return found
    for kind in (list, tuple, str, bytes):
        if is_a(cls, (kind,)):
            return kind.__getitem__(value, key)
    if from_library(cls) and (is_of(value, "polars", "DataFrame") or is_of(value, "pyarrow", "Table", "RecordBatch")):
        return value[key]
    raise UnresolvablePath(f"What {type_name(cls)} has under a key is known only by running its code.")
