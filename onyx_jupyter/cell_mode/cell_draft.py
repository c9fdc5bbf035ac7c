"""The cell as shown while the model writes it: from the lines that the server wrote for it to the newest word."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing

from onyx_jupyter.cell_mode.cell_source import cell_of
from onyx_jupyter.protocols import CellDraft, ModelEvent, TextDelta, TextWasThinking

_FENCE = re.compile(r"```[^\n]*\n")
_FENCE_TO_COME = re.compile(r"(?<=\n)`{1,2}\Z")
_SIGNS = re.compile(r"[=(\[]")
_WORDS = re.compile(r"[A-Z][a-z']*[,!:.]? +[A-Za-z]")


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
