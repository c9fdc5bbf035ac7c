"""A variable in one line: what kind it is, its type, its shape, its size. It runs in the kernel."""

from __future__ import annotations

import types
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
    is_plain,
    lineage,
    loaded,
    type_name,
)
from onyx_jupyter.notebook.kernel_probe.values import cut, hidden, label, length, plain_number, short

# The order in which they are told: what the work is about comes first.
KINDS = ("frame", "array", "object", "container", "text", "value", "function", "class", "module")
_COLUMNS_NAMED = 8
_SIZED_COLUMNS = 500
_FRAMES = {"pandas": ("DataFrame", "Series", "Index"), "polars": ("DataFrame", "LazyFrame", "Series")}
_ARROW = ("Table", "RecordBatch", "ChunkedArray", "Array")


def kind_of(value: Any) -> str:
    """One of KINDS, by the type alone."""
    cls = type(value)
    if is_a(cls, (types.ModuleType,)):
        return "module"
    if is_a(cls, (type,)):
        return "class"
    if is_a(cls, (types.FunctionType, types.BuiltinFunctionType, types.MethodType)) or is_of(value, "numpy", "ufunc"):
        return "function"
    if any(is_of(value, library, *names) for library, names in _FRAMES.items()) or is_of(value, "pyarrow", *_ARROW):
        return "frame"
    if is_of(value, "numpy", "ndarray") or is_of(value, "torch", "Tensor") or _is_sparse(value):
        return "array"
    if value is None or is_a(cls, (bool, int, float, complex)) or is_of(value, "numpy", "generic"):
        return "value"
    if is_a(cls, (str, bytes, bytearray)):
        return "text"
    return "container" if length(value) is not None else "object"


def summary(name: Any, value: Any, look: Look) -> dict[str, Any]:
    """`{name, kind, type, summary, size_bytes?}`; what cannot be read is told by its type."""
    told: dict[str, Any] = {"name": name, "kind": kind_of(value), "type": type_name(type(value)), "summary": ""}
    if look.hides(name, value):
        told["summary"] = describe_secret(value)
        return told
    try:
        told["summary"] = _describe_value(value, told["kind"], look)
        size = size_bytes(value)
        if size is not None:
            told["size_bytes"] = int(size)
    except Exception as error:
        told["summary"] = f"cannot be read: {type_name(type(error))}"
    return told


def describe_secret(value: Any) -> str:
    """What is told of a secret: how much there is of it."""
    for data in (numpy_array(value), pandas_frame(value), pandas_series(value)):
        if data is not None and data.shape:
            return f"hidden, {_shape(data.shape)}"
    return hidden(value)


def pandas_frame(value: Any) -> Any:
    """The frame as pandas' own class, sharing its data; None where it is none or its class answers for itself."""
    return _plain(value, "pandas", "DataFrame", "_mgr")


def pandas_series(value: Any) -> Any:
    """The same for a series."""
    return _plain(value, "pandas", "Series", "_mgr")


def numpy_array(value: Any) -> Any:
    """The array as NumPy's own class, sharing its data; None where it is none."""
    base = loaded("numpy", "ndarray")
    if base is MISSING or not is_a(type(value), (base,)):
        return None
    return value if type(value) is base else base.view(value, base)


def dtype_name(dtype: Any) -> str:
    """`float64`; of a type that a user wrote its class."""
    is_known = is_of(dtype, "numpy", "dtype") or from_library(type(dtype))
    return str(dtype) if is_known else type_name(type(dtype))


def size_bytes(value: Any) -> int | None:
    """What the data takes, as the library counts it without looking at each object; None where nothing says it."""
    frame, series, array = pandas_frame(value), pandas_series(value), numpy_array(value)
    if frame is not None:
        return int(frame.memory_usage(index=True).sum()) if len(frame.columns) <= _SIZED_COLUMNS else None
    if series is not None:
        return int(series.memory_usage(index=True))
    if array is not None:
        return int(array.nbytes)
    if _is_library(value, "polars", "DataFrame", "Series"):
        return int(value.estimated_size())
    if _is_library(value, "pyarrow", "Table", "RecordBatch", "ChunkedArray"):
        return int(value.nbytes)
    if _is_library(value, "torch", "Tensor"):
        return int(value.element_size() * value.nelement())
    return None


def format_columns(pairs: Any, count: int, look: Look) -> str:
    """`id int64, price float64, … 3 more`, from the first pairs of name and dtype."""
    told = [f"{label(name, look)} {kind}" for name, kind in pairs]
    return ", ".join(told + ([f"… {count - len(told):,} more"] if count > len(told) else []))


def _describe_value(value: Any, kind: str, look: Look) -> str:
    if kind == "frame":
        return _describe_frame(value, look)
    if kind == "array":
        return _describe_array(value)
    if kind == "object":
        return _describe_object(value, look)
    if kind == "container":
        return f"{length(value):,} entries: {short(value, look)}" if length(value) else "empty"
    if kind == "text":
        size = length(value)
        return short(value, look) + (f" ({size:,} {'characters' if is_a(type(value), (str,)) else 'bytes'})")
    return short(value, look)


def _describe_frame(value: Any, look: Look) -> str:
    frame, series = pandas_frame(value), pandas_series(value)
    if frame is not None:
        rows, columns = frame.shape
        pairs = [(name, dtype_name(dtype)) for name, dtype in frame.dtypes.iloc[:_COLUMNS_NAMED].items()]
        return f"{rows:,} × {columns:,}: {format_columns(pairs, columns, look)}"
    if series is not None:
        named = f", named {label(series.name, look)}" if series.name is not None else ""
        return f"{len(series):,} of {dtype_name(series.dtype)}{named}"
    if not from_library(type(value)):
        return "a class of the user's, not asked"
    if _is_library(value, "polars", "LazyFrame"):
        return "a lazy query, not collected"
    if _is_library(value, "polars", "DataFrame"):
        pairs = [(name, str(kind)) for name, kind in list(value.schema.items())[:_COLUMNS_NAMED]]
        return f"{value.height:,} × {value.width:,}: {format_columns(pairs, value.width, look)}"
    if _is_library(value, "pyarrow", "Table", "RecordBatch"):
        pairs = [(field.name, str(field.type)) for field in list(value.schema)[:_COLUMNS_NAMED]]
        return f"{value.num_rows:,} × {value.num_columns:,}: {format_columns(pairs, value.num_columns, look)}"
    kind = getattr(value, "dtype", None) or getattr(value, "type", "")
    return f"{len(value):,} of {kind}"


def _describe_array(value: Any) -> str:
    array = numpy_array(value)
    if array is not None:
        one = f" {short(plain_number(array[()]), Look(1))}" if array.ndim == 0 and array.dtype.kind in "biuf" else ""
        return f"{_shape(array.shape)} {dtype_name(array.dtype)}{one}"
    if not from_library(type(value)) or not is_plain(type(value)):
        return "a class of the user's, not asked"
    if _is_sparse(value):
        return f"{_shape(value.shape)} {value.dtype}, sparse ({value.format}), {value.nnz:,} stored"
    device = f" on {value.device}" if str(value.device) != "cpu" else ""
    return f"{_shape(tuple(value.shape))} {str(value.dtype).split('.')[-1]}{device}"


def _describe_object(value: Any, look: Look) -> str:
    text = short(value, look)
    if text != f"<{type_name(type(value))}>":
        return text
    own = [name for name in fields(value) if type(name) is str]
    shown = [cut(name, 30) for name in own[:_COLUMNS_NAMED]]
    return "fields " + ", ".join(shown + ["…"] * (len(own) > len(shown))) if own else ""


def _plain(value: Any, module: str, name: str, data: str) -> Any:
    base = loaded(module, name)
    if base is MISSING or not is_a(type(value), (base,)):
        return None
    if type(value) is base:
        return value
    is_kept_as_usual = is_plain(type(value)) and data in fields(value) and class_field(type(value), data) is MISSING
    return base(value, copy=False) if is_kept_as_usual else None


def _is_library(value: Any, module: str, *names: str) -> bool:
    return is_exactly(value, *(loaded(module, name) for name in names))


def _is_sparse(value: Any) -> bool:
    return any(type_name(one) in ("scipy._spbase", "scipy.spmatrix") for one in lineage(type(value)))


def _shape(shape: Any) -> str:
    return " × ".join(f"{side:,}" for side in shape) if shape else "no dimensions,"
