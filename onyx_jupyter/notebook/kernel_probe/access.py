"""Reading objects without running what their classes define. It runs in the kernel.

A class can answer `len`, `repr`, `isinstance` and every attribute with code of its own; what is read here is what
Python itself keeps: the type, its lineage, the dictionaries of class and instance.
"""

from __future__ import annotations

import re
import sys
import time
import types
from collections.abc import Mapping
from typing import Any

MISSING = object()
# Whose own classes may be asked: they compute what they say from arrays, not from what a user wrote.
LIBRARIES = frozenset(
    [
        "builtins",
        "numpy",
        "pandas",
        "polars",
        "pyarrow",
        "torch",
        "scipy",
        "xarray",
        "datetime",
        "decimal",
        "fractions",
        "uuid",
        "pathlib",
    ]
)
_LINEAGE = type.__dict__["__mro__"]
_CLASS_DICT = type.__dict__["__dict__"]
_CLASS_MODULE = type.__dict__["__module__"]
_CLASS_NAME = type.__dict__["__name__"]
_MODULE_DICT: Any = vars(types.ModuleType)["__dict__"]


class Look:
    """One look: how long it may take, and which names hide what they hold."""

    def __init__(self, seconds: float, secret_names: tuple[str, ...] = ()) -> None:
        self.until = time.monotonic() + seconds
        self._secret_names = secret_names

    def left_s(self) -> float:
        return self.until - time.monotonic()

    def hides(self, name: Any, value: Any) -> bool:
        """Whether the name says that the value is a secret; the environment always is one.

        A number alone never is (`max_tokens`), nor is code (`def token`); whatever else can hold one is, an array or a
        table too.
        """
        return is_environment(value, data_only=True) or (not _holds_no_secret(value) and self.is_secret(name))

    def is_secret(self, name: Any) -> bool:
        """Whether a name or key, also one in bytes, is that of a secret."""
        if is_a(type(name), (bytes,)):
            name = bytes.decode(name, "utf-8", "replace")
        if not is_text(name):
            return False
        plain = re.sub(r"[^a-z0-9]+", "_", str.lower(name)).strip("_")
        return plain.endswith(self._secret_names) or (plain.endswith("s") and plain[:-1].endswith(self._secret_names))


def _holds_no_secret(value: Any) -> bool:
    code = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
    is_number = is_a(type(value), (bool, int, float, complex)) or is_of(value, "numpy", "number", "bool_", "ufunc")
    return value is None or is_number or is_a(type(value), code)


def lineage(cls: type) -> tuple[type, ...]:
    """The class and what it is derived from, also where a metaclass says something else."""
    found: tuple[type, ...] = _LINEAGE.__get__(cls)
    return found


def is_a(cls: type, kinds: tuple[Any, ...]) -> bool:
    """Whether the class is one of these or derived from one; `isinstance` would ask the object."""
    return any(kind is one for one in lineage(cls) for kind in kinds)


def is_exactly(value: Any, *kinds: Any) -> bool:
    """Whether the object's class is one of these; `in` would ask a metaclass whether it is equal."""
    return any(type(value) is kind for kind in kinds)


def is_text(value: Any) -> bool:
    return is_a(type(value), (str,))


def names_of(cls: type) -> Mapping[str, Any]:
    """What the class itself defines."""
    found: Mapping[str, Any] = _CLASS_DICT.__get__(cls)
    return found


def class_field(cls: type, name: str) -> Any:
    """What the class or one of its ancestors defines under that name, unbound; else MISSING."""
    for one in lineage(cls):
        if name in names_of(one):
            return names_of(one)[name]
    return MISSING


def fields(value: Any) -> dict[str, Any]:
    """A copy of the object's own dictionary; empty where it has none or its class answers in its place."""
    if is_a(type(value), (types.ModuleType,)):
        return dict(_MODULE_DICT.__get__(value))
    if is_a(type(value), (type,)):
        return dict(names_of(value))
    holder = class_field(type(value), "__dict__")
    if type(holder) is not types.GetSetDescriptorType:
        return {}
    found = holder.__get__(value)
    return dict(found) if type(found) is dict else {}


def loaded(module: str, name: str) -> Any:
    """What a module that is already imported holds under that name; else MISSING. Nothing is imported."""
    found = sys.modules.get(module)
    if found is None or not is_a(type(found), (types.ModuleType,)):
        return MISSING
    return _MODULE_DICT.__get__(found).get(name, MISSING)


def is_of(value: Any, module: str, *names: str) -> bool:
    """Whether the object is of one of that module's classes or of one derived from them."""
    return is_a(type(value), tuple(kind for kind in (loaded(module, name) for name in names) if kind is not MISSING))


def is_environment(value: Any, data_only: bool = False) -> bool:
    """Whether it is the process's environment: `os.environ`, `os.environb`, or the dictionary in which they keep it."""
    kind = loaded("os", "_Environ")
    if is_a(type(value), (dict,)):
        known = [loaded("os", name) for name in ("environ", "environb")]
        return any(fields(one).get("_data") is value for one in known if one is not MISSING)
    return not data_only and kind is not MISSING and type(value) is kind


def is_plain(cls: type) -> bool:
    """Whether attributes of its objects are looked up as usual, so that a library's class can be asked."""
    return class_field(cls, "__getattribute__") is object.__dict__["__getattribute__"]


def module_of(cls: type) -> str:
    found = _CLASS_MODULE.__get__(cls)
    return found if type(found) is str else ""


def name_of(cls: type) -> str:
    found: str = _CLASS_NAME.__get__(cls)
    return found


def type_name(cls: type) -> str:
    """`pandas.DataFrame`: the package and the name; a built-in's or the user's own by the name alone."""
    package = module_of(cls).split(".")[0]
    return name_of(cls) if package in ("", "builtins", "__main__") else f"{package}.{name_of(cls)}"


def from_library(cls: type) -> bool:
    """Whether it is really a class of one of LIBRARIES: a name can be anybody's."""
    module = module_of(cls)
    return module.split(".")[0] in LIBRARIES and loaded(module, name_of(cls)) is cls
