"""Reads a Python file with a user's own tools, as text alone: none of its code runs before it is trusted."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

from onyx_jupyter.skills.regular_file import read_regular
from onyx_jupyter.skills.skill import MAX_DESCRIPTION_CHARS, MAX_SHOWN_CHARS, Skill, SkillProblem, Source, too_long

MAX_BYTES = 4 * MAX_SHOWN_CHARS
# Hashed before the source: a trusted skill's hash can never equal that of code.
_MARK = b"onyx tool file\0"


def read_tool_file(path: Path, source: Source) -> Skill:
    """The file under its file name, with its `problem` if it has one. Raises: OSError."""
    try:
        raw = read_regular(path, MAX_BYTES)
        text = raw.decode("utf-8")
    except SkillProblem as error:
        return Skill(path.name, "tool", "", source, path, problem=str(error))
    except UnicodeDecodeError:
        return Skill(path.name, "tool", "", source, path, problem="It is not UTF-8 text.")
    description, problem = _described(text)
    return Skill(
        name=path.name,
        kind="tool",
        description=description[:MAX_DESCRIPTION_CHARS],
        source=source,
        path=path,
        digest=tool_digest(raw),
        text=text[:MAX_SHOWN_CHARS],
        hashes={path.name: hashlib.sha256(raw).hexdigest()},
        problem=too_long(text, "It contains") or problem,
    )


def tool_digest(raw: bytes) -> str:
    """Identifies exactly this source."""
    return hashlib.sha256(_MARK + raw).hexdigest()


def _described(text: str) -> tuple[str, str | None]:
    """The first line of its docstring, and why it is not valid Python, if so."""
    try:
        docstring = ast.get_docstring(ast.parse(text)) or ""
    except SyntaxError as error:
        return "", f"It is not valid Python: {error.msg} (line {error.lineno})."
    except (ValueError, RecursionError, MemoryError) as error:
        return "", f"It is not valid Python: {str(error) or type(error).__name__}."
    return docstring.partition("\n")[0], None
