"""The text that runs in kernels: one piece, old Pythons, nothing of ours."""

import ast
import collections
import subprocess
import sys
from pathlib import Path

import pytest

from onyx_jupyter.notebook import kernel_inspection as kernel_question
from onyx_jupyter.notebook.kernel_inspection import PARTS, probe_source

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


ENDS_AS_ITS_TIME_DOES = """
import time
from onyx_jupyter.notebook.kernel_probe.answer import ProbeTimeout, within

outcomes = set()
for step in range(200):
    seconds = 0.005 if step % 2 else 0.0
    until = time.perf_counter() + seconds + (step % 20 - 10) * 0.0001

    def work():
        while time.perf_counter() < until:
            pass
        return {"kind": "in time"}

    try:
        outcomes.add(within(seconds, work)["kind"])
    except ProbeTimeout:
        outcomes.add("too slow")
    for _ in range(1000):
        pass
time.sleep(1)  # a signal would come by then
print(len(outcomes - {"in time", "too slow"}))
"""


def test_nothing_is_raised_after_a_look_that_ends_as_its_time_does() -> None:
    """Whichever comes first: the end, or the exception that is to end it, even before the look has begun."""
    done = subprocess.run([sys.executable, "-c", ENDS_AS_ITS_TIME_DOES], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")
