"""Extracts the cell from a model's answer, also while it arrives, adds the lines that read its table, and checks it."""

from __future__ import annotations

import ast
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing

from onyx_jupyter.cell_mode.fixes.imports import parsed
from onyx_jupyter.cell_mode.notebook_facts import PYTHON, NotebookFacts
from onyx_jupyter.cell_mode.plots import PLOT_IMPORT, wants_plot
from onyx_jupyter.protocols import CellDraft, ModelEvent, TextDelta, TextWasThinking

_BLOCK = re.compile(r"```[ \t]*[\w+#.{}-]*[ \t]*\r?\n(.*?)(?:(?:^|\n)```|\Z)", re.I | re.M | re.S)
_WHOLE_BLOCK = re.compile(r"```[^\n`]*\n(?:.*?\n)?```", re.S)
# A cell magic (`%%`) counts only at the beginning of the cell: further down it is invalid.
_MAGIC = re.compile(r"^\s*(?:%(?!%)|[!?])")
_FENCE = re.compile(r"```[^\n]*\n")
_FENCE_TO_COME = re.compile(r"(?<=\n)`{1,2}\Z")
_SIGNS = re.compile(r"[=(\[]")
_WORDS = re.compile(r"[A-Z][a-z']*[,!:.]? +[A-Za-z]")


def opening_lines(facts: NotebookFacts, request: str) -> str:
    """The first lines of a cell: they read its file, so that all names are right, and import what a plot needs."""
    lines = [frame.read for frame in facts.frames if frame.read]
    if facts.language == PYTHON and wants_plot(request):
        lines.append(PLOT_IMPORT)
    return "\n".join(lines)


def has_block(answer: str) -> bool:
    """Whether the answer contains a block of code, even an unfinished one."""
    return _BLOCK.search(answer) is not None


def cell_of(answer: str, begun: str) -> str:
    """The cell, whether or not the model repeated the lines that it began with; empty if the answer has none."""
    blocks = _BLOCK.findall(answer)
    code = blocks[0] if blocks else answer
    lines = [line for line in begun.splitlines() if line.strip()]
    rest = code.strip("\n").splitlines()
    while rest and lines and rest[0].strip() in {line.strip() for line in lines}:
        rest.pop(0)
    body = "\n".join(rest).strip("\n").rstrip()
    return f"{begun}\n{body}".strip("\n") if body.strip() else ""


def has_whole_block(answer: str) -> bool:
    """Whether its block is closed, so that a cut after it doesn't affect the cell."""
    return _WHOLE_BLOCK.search(answer) is not None


def problem_in(source: str) -> str | None:
    """Why the cell cannot run at all, as Python reports it, ignoring lines with magics; None if it can."""
    plain = "\n".join("pass" if _MAGIC.match(line) else line for line in source.splitlines())
    if source.lstrip().startswith("%%"):
        return None
    try:
        ast.parse(plain)
    except SyntaxError as error:
        return f"SyntaxError: {error.msg} (line {error.lineno})"
    except (ValueError, MemoryError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return None


def is_code(answer: str) -> bool:
    """Whether Python was answered instead of words: an assignment or a call. A lone name or number is an answer."""
    return any(isinstance(node, ast.Assign | ast.Call | ast.Import) for node in ast.walk(parsed(answer.strip())))


async def drafted(asking: AsyncGenerator[ModelEvent, None], begun: str) -> AsyncGenerator[ModelEvent, None]:
    """The events of an answer, with the cell instead of its text; `begun` is shown at once."""
    yield CellDraft(begun, begins=True)
    answer, shown = "", begun
    async with aclosing(asking) as events:
        async for event in events:
            if not isinstance(event, TextDelta):
                answer = "" if isinstance(event, TextWasThinking) else answer
                yield event
                continue
            answer += event.text
            cell = so_far(answer, begun)
            if not cell.startswith(shown):
                yield CellDraft(cell, begins=True)
            elif len(cell) > len(shown):
                yield CellDraft(cell[len(shown) :])
            shown = cell


def so_far(answer: str, begun: str) -> str:
    """The part of the answer that is certainly the cell: without a closing fence, text around it, or repeated lines."""
    text = answer.lstrip()
    if _FENCE.search(text) is None and ("```" in text or text.startswith("`") or _is_prose(text)):
        return begun
    text = _FENCE_TO_COME.sub("", text)
    last = text.rpartition("\n")[2]
    if last.strip() and any(line.startswith(last.strip()) for line in begun.splitlines()):
        text = text.removesuffix(last)
    return cell_of(text, begun) or begun


def _is_prose(text: str) -> bool:
    """Whether a sentence precedes a cell that is still to come, or may: code is recognized by its signs."""
    first = text.partition("\n")[0]
    may_be = first == text and first[:1].isupper() and not _SIGNS.search(first)
    return may_be or _WORDS.match(first) is not None
