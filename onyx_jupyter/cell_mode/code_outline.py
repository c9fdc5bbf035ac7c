"""What of the notebook's code a new cell needs to know: all of it, or the functions alone. It reads no kernel."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from onyx_jupyter.cell_mode.imports import parsed

_ABOUT_CODE = re.compile(
    r"\b(?:(?:the|this|that|my|last|first|next|previous|each|every) (?:cell|code|plot|chart|figure|graph|model|loop)s?"
    r"|cells? \d+|above|below|previous|same (?:way|as)|again|instead|like (?:the|this|that)|functions?|fix|errors?"
    r"|traceback|fails?|broken|refactor|rename|rewrite|code)\b",
    re.I,
)
_MOST = 12


def is_about_code(request: str) -> bool:
    """Whether it is about what stands in the notebook, and not about its data alone."""
    return bool(_ABOUT_CODE.search(request))


def functions_of(sources: Sequence[str]) -> str:
    """The functions and classes that they define, with their parameters, in a line; empty where there are none."""
    defined = [_head(node) for source in sources for node in getattr(parsed(source), "body", ())]
    heads = list(dict.fromkeys(head for head in defined if head))[-_MOST:]
    return f"Defined in the notebook: {', '.join(f'`{head}`' for head in heads)}" if heads else ""


def _head(node: ast.stmt) -> str:
    match node:
        case ast.FunctionDef(name=name, args=arguments) | ast.AsyncFunctionDef(name=name, args=arguments):
            return f"{name}({ast.unparse(arguments)})"
        case ast.ClassDef(name=name):
            return f"class {name}"
    return ""
