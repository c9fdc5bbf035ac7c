"""Modules started or loaded by name exist: no import statement would notice that one has moved."""

import re
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAME = r"(?:onyx_jupyter|benchmarks|scripts|tests)(?:\.[a-z_]\w*)+"
# A text that is a name and nothing else; a module that a command starts; what a program in a text imports.
QUOTED = re.compile(rf"""["']({NAME})["']""")
STARTED = re.compile(rf"-m ({NAME})")
IMPORTED = re.compile(rf"""["';]\s*(?:import|from) ({NAME})""")
CODE = [path for folder in ("onyx_jupyter", "benchmarks", "scripts", "tests") for path in (ROOT / folder).rglob("*.py")]
OTHERS = [
    ROOT / "Makefile",
    ROOT / ".ci" / "run",
    *ROOT.joinpath("scripts").glob("*.sh"),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *ROOT.joinpath("docs").glob("*.md"),
]
# Names that look like a module's and are none: files, and loggers that a test makes up.
OF_FILES = (".py", ".sh", ".md", ".json", ".ipynb", ".yaml")
MADE_UP = {"onyx_jupyter.somewhere.below", "onyx_jupyter.agent.anything"}


def named(files: list[Path]) -> Iterator[tuple[str, str]]:
    """(file, name) of every module that is named in these files outside of an import statement."""
    for path in files:
        text = path.read_text("utf-8")
        names = {name for pattern in (QUOTED, STARTED, IMPORTED) for name in pattern.findall(text)}
        yield from ((str(path.relative_to(ROOT)), name) for name in sorted(names) if not name.endswith(OF_FILES))


def is_there(name: str) -> bool:
    """Whether it is a module, or something in one."""
    if _spec(name) is not None:
        return True
    module, _, attribute = name.rpartition(".")
    spec = _spec(module)
    return spec is not None and spec.origin is not None and attribute in Path(spec.origin).read_text("utf-8")


def _spec(name: str) -> ModuleSpec | None:
    try:
        return find_spec(name)
    except ModuleNotFoundError:
        return None


def test_modules_named_in_strings_and_pages_exist() -> None:
    found = list(named([path for path in CODE if path != Path(__file__)] + OTHERS))
    assert ("onyx_jupyter/ingest/reader_process.py", "onyx_jupyter.ingest.reader_child") in found
    assert ("Makefile", "onyx_jupyter.server.wire_types") in found
    assert [f"{file}: {name}" for file, name in found if name not in MADE_UP and not is_there(name)] == []


@pytest.mark.parametrize("name", ["onyx_jupyter.nowhere", "onyx_jupyter.nowhere.at_all", "onyx_jupyter.clock.nothing"])
def test_moved_module_is_detected(name: str) -> None:
    assert not is_there(name)
