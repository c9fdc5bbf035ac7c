"""The text that runs in kernels: one piece, old Pythons, nothing of ours."""

import ast
import collections
from pathlib import Path

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
