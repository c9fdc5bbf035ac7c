"""Containers, texts, functions, classes, modules and everything else. It runs in the kernel."""

from __future__ import annotations

import inspect
import types
from typing import Any

from onyx_jupyter.notebook.kernel_probe.access import (
    Look,
    class_field,
    fields,
    is_a,
    is_text,
    lineage,
    module_of,
    name_of,
    names_of,
    type_name,
)
from onyx_jupyter.notebook.kernel_probe.summaries import summary
from onyx_jupyter.notebook.kernel_probe.values import cut, documentation, entries, label, length, short

_MAX_ENTRIES = 30
_COUNTED = 10_000
_MAX_TEXT_CHARS = 1_500
_MAX_NAMES = 40
_DOC_CHARS = 2_000


def inspect_container(value: Any, look: Look) -> dict[str, Any]:
    """Of a list, tuple, set, dictionary or deque."""
    is_dict = is_a(type(value), (dict,))
    found = entries(value, _MAX_ENTRIES)
    pairs = found if is_dict else list(enumerate(found))
    rows = []
    for key, entry in pairs:
        told = summary(key if is_dict else "", entry, look)
        rows.append([label(key, look), told["type"], told["summary"]])
    facts = [["entries", f"{length(value):,}"]]
    if not is_dict and length(value):
        facts.append(["types", _format_types(entries(value, _COUNTED))])
    left = (length(value) or 0) - len(rows)
    head = ["key" if is_dict else "position", "type", "value"]
    return {
        "facts": facts,
        "tables": [{"title": "entries", "columns": head, "rows": rows}] if rows else [],
        "notes": [f"{left:,} more entries are left out"] if left else [],
    }


def inspect_environment(value: Any) -> dict[str, Any]:
    """Of `os.environ`: the names alone, since what they hold was given to this process and not to a reader."""
    held = fields(value).get("_data")
    names = sorted(
        bytes.decode(name, "utf-8", "replace") if is_a(type(name), (bytes,)) else str(name)
        for name, _ in entries(held, _COUNTED)
    )
    return {"facts": [["entries", f"{length(held) or 0:,}"], ["names", _listed(names)]]}


def inspect_text(value: Any, look: Look) -> dict[str, Any]:
    """Of a text, or of bytes."""
    if not is_text(value):
        return {"facts": [["bytes", f"{length(value):,}"], ["beginning", short(value, look)]]}
    facts = [["characters", f"{length(value):,}"], ["lines", f"{str.count(value, chr(10)) + 1:,}"]]
    return {"facts": facts, "text": cut(value, _MAX_TEXT_CHARS)}


def inspect_function(value: Any, look: Look) -> dict[str, Any]:
    """Of a function or method: signature, where it was defined, docstring."""
    plain = value.__func__ if type(value) is types.MethodType else value
    facts = [["signature", signature(value, look)]]
    if type(plain) is types.FunctionType:
        code = plain.__code__
        facts.append(["defined in", f"{code.co_filename}, line {code.co_firstlineno}"])
    return {"facts": facts, "text": cut(inspect.cleandoc(documentation(value)), _DOC_CHARS)}


def inspect_class(value: Any, look: Look) -> dict[str, Any]:
    """Of a class: bases, how it is made, its methods, docstring."""
    bases = [type_name(base) for base in lineage(value)[1:] if base is not object]
    made = class_field(value, "__init__")
    facts = [["module", module_of(value)], ["bases", ", ".join(bases) or "object"]]
    if type(made) is types.FunctionType:
        facts.append(["made by", f"{name_of(value)}{_arguments(made, look, without_first=True)}"])
    facts.append(["methods", _listed(_methods(value))])
    return {"facts": facts, "text": cut(inspect.cleandoc(documentation(value)), _DOC_CHARS)}


def inspect_module(value: Any, look: Look) -> dict[str, Any]:
    """Of a module: version, file, what it offers."""
    inside = fields(value)
    facts = [["module", label(inside.get("__name__"), look)]]
    facts += [[name.strip("_"), label(inside[name], look)] for name in ("__version__", "__file__") if name in inside]
    public = sorted(name for name in inside if type(name) is str and not name.startswith("_"))
    facts.append(["names", f"{len(public):,}: {_listed(public)}"])
    return {"facts": facts, "text": cut(inspect.cleandoc(documentation(value)), _DOC_CHARS)}


def inspect_object(value: Any, look: Look) -> dict[str, Any]:
    """Of anything else: its fields as they are kept; properties would run code, so they are only named."""
    cls = type(value)
    rows = []
    inside = {name: entry for name, entry in fields(value).items() if type(name) is str}
    for one in lineage(cls):
        for name, holder in names_of(one).items():
            if type(holder) is types.MemberDescriptorType and name not in inside:
                inside.update(_slot(holder, name, value))
    for name, entry in list(inside.items())[:_MAX_ENTRIES]:
        told = summary(name, entry, look)
        rows.append([label(name, look), told["type"], told["summary"]])
    properties = [name for one in lineage(cls) for name, held in names_of(one).items() if type(held) is property]
    facts = [["module", module_of(cls)], ["methods", _listed(_methods(cls))]]
    notes = [f"{len(inside) - len(rows):,} more fields are left out"] if len(inside) > len(rows) else []
    if properties:
        notes.append(f"properties are not read, since that runs their code: {_listed(sorted(set(properties)))}")
    tables = [{"title": "fields", "columns": ["field", "type", "value"], "rows": rows}] if rows else []
    text = cut(inspect.cleandoc(documentation(value)), _DOC_CHARS)
    return {"facts": facts, "tables": tables, "notes": notes, "text": text}


def signature(value: Any, look: Look) -> str:
    """`name(a, b=1) -> int`, with defaults in words."""
    if type(value) is types.MethodType and type(value.__func__) is types.FunctionType:
        return f"{value.__func__.__name__}{_arguments(value.__func__, look, without_first=True)}"
    if type(value) is types.FunctionType:
        return f"{value.__name__}{_arguments(value, look)}"
    name = getattr(value, "__name__", "") if type(value) is types.BuiltinFunctionType else ""
    text = getattr(value, "__text_signature__", "") if name else ""
    return f"{name}{text or '(…)'}"


def _arguments(function: Any, look: Look, without_first: bool = False) -> str:
    """From the code itself: `inspect.signature` would ask defaults and annotations for their `repr`."""
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    parts: list[str] = []
    for at, name in enumerate(names):
        default = at - (len(names) - len(defaults))
        parts.append(_argument(name, function, look, *((defaults[default],) if default >= 0 else ())))
        if code.co_posonlyargcount and at + 1 == code.co_posonlyargcount:
            parts.append("/")
    after = code.co_argcount + code.co_kwonlyargcount
    if code.co_flags & inspect.CO_VARARGS:
        parts.append(f"*{code.co_varnames[after]}")
        after += 1
    elif code.co_kwonlyargcount:
        parts.append("*")
    for name in code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]:
        given = (function.__kwdefaults__ or {}).get(name, _argument)
        parts.append(_argument(name, function, look, *(() if given is _argument else (given,))))
    if code.co_flags & inspect.CO_VARKEYWORDS:
        parts.append(f"**{code.co_varnames[after]}")
    returned = _annotation(function, "return", look)
    return f"({', '.join(parts[1:] if without_first else parts)})" + (f" -> {returned}" if returned else "")


def _argument(name: str, function: Any, look: Look, *default: Any) -> str:
    kind = _annotation(function, name, look)
    text = f"{name}: {kind}" if kind else name
    if not default:
        return text
    shown = "hidden" if look.hides(name, default[0]) else short(default[0], look, 40)
    return f"{text} = {shown}" if kind else f"{text}={shown}"


def _annotation(function: Any, name: str, look: Look) -> str:
    """As it was written, or the class's name; Python 3.14 keeps it as code, which is not run."""
    if hasattr(types.FunctionType, "__annotate__"):
        return ""
    kind = function.__annotations__.get(name)
    if kind is None:
        return ""
    return cut(kind, 60) if is_text(kind) else type_name(kind) if is_a(type(kind), (type,)) else ""


def _methods(cls: type) -> list[str]:
    callables = (types.FunctionType, staticmethod, classmethod, types.MethodDescriptorType)
    found = [
        name
        for one in lineage(cls)
        if one is not object
        for name, held in names_of(one).items()
        if type(name) is str and not name.startswith("_") and any(type(held) is kind for kind in callables)
    ]
    return sorted(set(found))


def _slot(holder: Any, name: str, value: Any) -> dict[str, Any]:
    try:
        return {name: holder.__get__(value)}
    except AttributeError:  # never set
        return {}


def _format_types(values: list[Any]) -> str:
    counts: dict[str, int] = {}
    for value in values:
        name = type_name(type(value))
        counts[name] = counts.get(name, 0) + 1
    ranked = sorted(counts.items(), key=lambda pair: -pair[1])
    told = ", ".join(f"{name} ({count:,})" for name, count in ranked[:6])
    return told + (f" in the first {_COUNTED:,}" if len(values) == _COUNTED else "")


def _listed(names: list[str]) -> str:
    more = len(names) - _MAX_NAMES
    return ", ".join(cut(name, 60) for name in names[:_MAX_NAMES]) + (f", … {more:,} more" if more > 0 else "")
