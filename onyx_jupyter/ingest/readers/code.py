"""Reads source code, one section per definition, with the file's own lines. It runs and imports nothing of it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import BinaryIO

from onyx_jupyter.ingest.document import Document, Section
from onyx_jupyter.ingest.readers.text import decoded_with_note
from onyx_jupyter.retrieval.chunking import HEADING_SEPARATOR

CODE_SUFFIXES = frozenset(
    [
        ".py",
        ".pyi",
        ".pyx",
        ".js",
        ".mjs",
        ".cjs",
        ".jsx",
        ".ts",
        ".tsx",
        ".java",
        ".kt",
        ".kts",
        ".scala",
        ".c",
        ".h",
        ".cc",
        ".cpp",
        ".cxx",
        ".hpp",
        ".cs",
        ".go",
        ".rs",
        ".rb",
        ".php",
        ".swift",
        ".r",
        ".jl",
        ".sh",
        ".bash",
        ".zsh",
        ".fish",
        ".ps1",
        ".sql",
        ".lua",
        ".pl",
        ".pm",
        ".hs",
        ".ml",
        ".ex",
        ".exs",
        ".erl",
        ".clj",
        ".dart",
        ".m",
        ".f90",
        ".css",
        ".scss",
        ".vue",
        ".proto",
        ".graphql",
        ".tf",
        ".cmake",
        ".mk",
        ".dockerfile",
    ]
)
_LONGEST_METHODLESS_CLASS = 60
_MODIFIERS = (
    "export|default|declare|public|private|protected|internal|static|final|abstract|async|pub(?:\\([^)]*\\))?|sealed|open|"
    "override|inline|extern|unsafe|virtual|data|local"
)
_DEFINITION = re.compile(
    rf"(?:(?:{_MODIFIERS})\s+)*"
    r"(?:(?:class|def|function\*?|func|fn|fun|struct|enum|interface|trait|impl|module|namespace|object|type|macro|sub)\b"
    r"\s*(?:<[^>\n]{0,80}>\s*)?(?:\([^)\n]{0,80}\)\s*)?(?P<name>[\w:.$]+)"
    r"|(?:const|let|var)\s+(?P<value>[\w$]+)\s*=\s*(?:async\s*)?(?:\(|function|\w+\s*=>)"
    r"|create\s+(?:or\s+replace\s+)?(?:table|view|function|procedure)\s+(?:if\s+not\s+exists\s+)?(?P<sql>[\w.\"]+)"
    r"|(?P<assigned>[\w.]+)\s*(?:<-|=)\s*function\b"
    r"|(?P<shell>[\w-]+)\s*\(\)\s*\{)",
    re.IGNORECASE,
)
_COMMENT_PREFIXES = ("#", "//", "/*", "*", "@", "--", '"""', "%", ";;")
_MAX_LINE_CHARS = 500


def read_code(name: str, file: BinaryIO) -> Document:
    """A section per definition, and sections for the code between them. Raises: DocumentUnreadable."""
    text, note = decoded_with_note(file.read())
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    starts = _python_starts(lines) if name.lower().endswith((".py", ".pyi")) else None
    if starts is None:
        starts = list(_plain_starts(lines))
    cuts = dict([(0, ""), *starts])
    places = [*sorted(cuts), len(lines)]
    sections = [
        Section("\n".join(lines[start:end]), "code", heading=cuts[start])
        for start, end in pairwise(places)
        if start < end
    ]
    return Document(sections, own_lines=True, note=note)


def _python_starts(lines: Sequence[str]) -> list[tuple[int, str]] | None:
    """The start of each definition, including decorators and the comment above; None if it is not Python 3."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as odd escapes in the user's code
            tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return [(_with_lead(lines, start), name) for start, name in _definitions(tree.body, "", len(lines))]


def _definitions(body: Sequence[ast.stmt], outer: str, end: int) -> Iterator[tuple[int, str]]:
    """The start of each definition in a module's or class's body, and of other code that follows one."""
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        name = f"{outer}{HEADING_SEPARATOR}{statement.name}" if outer else statement.name
        first = min([statement.lineno, *(decorator.lineno for decorator in statement.decorator_list)])
        yield first - 1, name
        last = statement.end_lineno or statement.lineno
        if isinstance(statement, ast.ClassDef) and last - first >= _LONGEST_METHODLESS_CLASS:
            yield from _definitions(statement.body, name, last)
        if following is not None and not isinstance(following, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield last, outer


def _plain_starts(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Recognizes definitions by their usual form in most languages, at most one level indented."""
    for place, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if indent > (1 if line.startswith("\t") else 4) or not line.strip():
            continue
        found = _DEFINITION.match(line.lstrip()[:_MAX_LINE_CHARS])
        if found:
            name = next(group for group in found.groups() if group)
            yield _with_lead(lines, place), name.strip('"')


def _with_lead(lines: Sequence[str], place: int) -> int:
    """Moves up to the first line of the comment or the attributes directly above."""
    while place > 0 and lines[place - 1].strip().startswith(_COMMENT_PREFIXES):
        place -= 1
    return place
