"""No import cycles in either half; imports inside functions and for types count, too."""

import ast
import os
import re
from collections.abc import Mapping, Set
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FRONT_END = ROOT / "labextension/src"
_IMPORT = re.compile(r"""(?:from|import\(|import)\s*['"](\.{1,2}/[^'"]*)['"]""")


def python_imports() -> dict[str, set[str]]:
    files = {_module(path): path for path in (ROOT / "onyx_jupyter").rglob("*.py")}
    found: dict[str, set[str]] = {}
    for name, path in files.items():
        named = found[name] = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                members = {f"{node.module}.{one.name}" for one in node.names}
                named |= {member if member in files else node.module for member in members}
            elif isinstance(node, ast.Import):
                named |= {one.name for one in node.names}
        named &= files.keys()
    return found


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def typescript_imports() -> dict[str, set[str]]:
    files = {str(path.relative_to(FRONT_END)) for path in FRONT_END.rglob("*.ts*")}
    found: dict[str, set[str]] = {}
    for name in files:
        named = _IMPORT.findall((FRONT_END / name).read_text("utf-8"))
        places = [os.path.normpath(Path(name).parent / one) for one in named]
        found[name] = {place + end for place in places for end in ("", ".ts", ".tsx", "/index.ts")} & files
    return found


def circle(imports: Mapping[str, Set[str]]) -> list[str]:
    """One of those that there are."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize(("imports", "least"), [(python_imports, 600), (typescript_imports, 150)])
def test_no_module_imports_itself_indirectly(imports, least) -> None:
    found = imports()
    assert sum(map(bool, found.values())) > least
    assert circle(found) == []


def test_import_cycle_is_detected() -> None:
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})) == {"a", "b", "c"}
