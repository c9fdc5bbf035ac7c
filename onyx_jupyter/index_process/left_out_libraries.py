"""Leaves out libraries that LanceDB imports but nothing here uses: it then loads in a third of the time, half as large.

Only for a process of our own: in the server, other extensions use them, too.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

# Arrow and LanceDB work without it; it is only needed to make data frames.
_MISSING = "pandas"
# LanceDB's clients for catalogues on other machines; for a folder on this machine it needs only the names of their
# classes. That was checked for the versions below; any other version gets the whole libraries.
_NAMES_ALONE = ("lance_namespace", "lance_namespace_urllib3_client")
CHECKED_VERSION = "0.40."


def leave_out() -> None:
    """From now on, these libraries cannot be imported in this process, or consist of names alone."""
    try:
        knows_lancedb = version("lancedb").startswith(CHECKED_VERSION)
    except PackageNotFoundError:
        knows_lancedb = False
    sys.meta_path.insert(0, _LeavesOut(_NAMES_ALONE if knows_lancedb else ()))


class _LeavesOut(MetaPathFinder, Loader):
    def __init__(self, names_alone: Sequence[str]) -> None:
        self._names_alone = names_alone

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == _MISSING:
            raise ModuleNotFoundError(f"{fullname} is left out of this process.", name=fullname)
        if fullname.partition(".")[0] in self._names_alone:
            return ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Names(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to execute."""


class _Names(ModuleType):
    def __getattr__(self, name: str) -> type:
        """An empty class; a name used in `except` has to be an exception."""
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (Exception,) if name.endswith("Error") else (), {})
        setattr(self, name, made)
        return made
