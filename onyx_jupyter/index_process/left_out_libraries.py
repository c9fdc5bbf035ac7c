"""Libraries that LanceDB imports and nothing here uses: without them it loads in a third of the time, half as large.

Only for a process of our own: in the server they are other people's, too.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

# Arrow and LanceDB can do without: it is there to make frames.
_MISSING = "pandas"
# What LanceDB speaks to catalogues on other machines with; it wants the names of their classes, and asks for no more in
# a folder of this machine. So it is in the versions that were looked at; any other gets the whole.
_NAMES_ALONE = ("lance_namespace", "lance_namespace_urllib3_client")
LOOKED_AT = "0.40."


def leave_out() -> None:
    """From now on they cannot be imported here, or are names alone."""
    try:
        knows_lancedb = version("lancedb").startswith(LOOKED_AT)
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
        """There is nothing in it to run."""


class _Names(ModuleType):
    def __getattr__(self, name: str) -> type:
        """An empty class; one that is caught as an error has to be one."""
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (Exception,) if name.endswith("Error") else (), {})
        setattr(self, name, made)
        return made
