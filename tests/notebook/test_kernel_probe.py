"""The text that runs in kernels: one piece, old Pythons, nothing of ours."""

import ast
import collections
import subprocess
import sys
import time
from pathlib import Path

import pytest

from onyx_jupyter.notebook import kernel_inspection as kernel_question
from onyx_jupyter.notebook.kernel_inspection import PARTS, probe_source
from onyx_jupyter.notebook.kernel_probe.answer import ProbeTimeout, within

FOLDER = Path(kernel_question.__file__).parent / "kernel_probe"


def test_every_file_is_included() -> None:
    assert {file.stem for file in FOLDER.glob("*.py")} == {*PARTS, "__init__"}


def test_code_is_python_3_8_with_standard_library_only() -> None:
    tree = ast.parse(probe_source(), feature_version=(3, 8))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported == {
        "__future__", "ast", "collections", "collections.abc", "contextlib", "ctypes", "datetime", "decimal", "enum",
        "fnmatch", "fractions", "hashlib", "importlib.util", "inspect", "itertools", "json", "math", "os", "pathlib",
        "re", "signal", "sys", "threading", "time", "types", "typing", "uuid", "warnings",
    }  # fmt: skip


def test_no_two_files_define_the_same_name() -> None:
    names = collections.Counter(
        name
        for node in ast.parse(probe_source()).body
        for name in (
            [node.name]
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
            else [target.id for target in node.targets if isinstance(target, ast.Name)]
            if isinstance(node, ast.Assign)
            else []
        )
    )
    assert [name for name, count in names.items() if count > 1] == []


TRACED_AFTERWARDS = """
import sys
from onyx_jupyter.notebook.kernel_probe.answer import ProbeTimeout, within

def too_long():
    while True:
        pass

try:
    within(SECONDS, WORK)
except ProbeTimeout:
    print("too slow")

def called():
    return "went on"

sys.settrace(lambda *_: None)
result = called()
sys.settrace(None)
print(result)
"""


@pytest.mark.parametrize(("seconds", "work", "said"), [(30, "dict", []), (0.1, "too_long", ["too slow"])])
def test_debugger_works_after_a_look(seconds: float, work: str, said: list[str]) -> None:
    code = TRACED_AFTERWARDS.replace("SECONDS", str(seconds)).replace("WORK", work)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split("\n")[:-1] == [*said, "went on"]


def test_nothing_is_raised_after_a_look_that_ends_as_its_time_does() -> None:
    """Whichever comes first: the end, or the exception that is to end it."""
    outcomes = set()
    for step in range(60):
        until = time.perf_counter() + 0.01 + (step - 30) * 0.0001

        def work(until: float = until) -> dict[str, str]:
            while time.perf_counter() < until:
                pass
            return {"kind": "in time"}

        try:
            outcomes.add(within(0.01, work)["kind"])
        except ProbeTimeout:
            outcomes.add("too slow")
        for _ in range(1000):  # an exception that is late would come up here
            pass
    assert outcomes <= {"in time", "too slow"}
    assert outcomes
