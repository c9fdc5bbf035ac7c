"""An answer's Markdown without anything that a front end would fetch by showing it. It never parses Markdown whole.

A picture's address can carry away what the model has read, so it becomes a link that a person may click. Front ends
disagree on where code begins, so only a fenced block that is one to all of them stays as it is. In other code an
invisible character keeps a picture from being one, which a person does not see and a program does not run with.
"""

from __future__ import annotations

import re

_LOADS = re.compile(
    r"!+(?=\[)"
    r"|<(?=/?(?:img|image|video|audio|source|track|picture|iframe|input|embed|object|link|style|svg|script|base|meta)\b)"
    r"|<(?=[a-z](?:[^>\"']|\"[^\"]*\"|'[^']*')*?\bstyle\s*=)",
    re.IGNORECASE,
)
_OPENS = re.compile(r"(`{3,})[^`]*|(~{3,}).*")
_MAY_CLOSE = re.compile(r"[ \t]*(`{3,}|~{3,})[`~]*[ \t]*")
# What may make the next fence no fence: formulas, HTML, and a fence inside of something else.
_DOUBTFUL = re.compile(r"\$|\\[(\[]|\\begin|^[ \t]*<|```|~~~")
_SPAN = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
_UNSEEN = "\u200b"


def safe_markdown(text: str) -> str:
    """The same words; pictures are links, and HTML that would load something is shown as text."""
    parts: list[str] = []
    outside: list[str] = []
    inside: list[str] = []
    fence, is_doubtful = "", False
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if fence:
            inside.append(line)
            is_doubtful = is_doubtful or _closes_for_some(line, fence)
            if _closes(line, fence):
                parts.append(_code("\n".join(inside), is_doubtful))
                fence, inside = "", []
        elif opened := _OPENS.fullmatch(line):
            parts += [_without_loading(outside)] if outside else []
            fence, inside, outside = opened[1] or opened[2], [line], []
        else:
            outside.append(line)
            is_doubtful = is_doubtful or _DOUBTFUL.search(line) is not None
    parts += [_code("\n".join(inside), is_doubtful)] if fence else []
    parts += [_without_loading(outside)] if outside else []
    return "\n".join(parts)


def _closes(line: str, fence: str) -> bool:
    """As CommonMark has it."""
    found = _MAY_CLOSE.fullmatch(line)
    return found is not None and set(line.strip(" \t")) == {fence[0]} and len(line.strip(" \t")) >= len(fence)


def _closes_for_some(line: str, fence: str) -> bool:
    """Whether one front end ends the block here and another does not."""
    return _MAY_CLOSE.fullmatch(line) is not None and re.fullmatch(f" {{0,3}}{fence}{fence[0]}* *", line) is None


def _code(block: str, is_doubtful: bool) -> str:
    return _LOADS.sub(_with_unseen, block) if is_doubtful else block


def _without_loading(lines: list[str]) -> str:
    text = "\n".join(lines)
    spans = iter([found.span() for found in _SPAN.finditer(text)])
    span = next(spans, None)

    def neutral(found: re.Match[str]) -> str:
        nonlocal span
        while span is not None and span[1] <= found.start():
            span = next(spans, None)
        is_code = span is not None and span[0] <= found.start()
        return _with_unseen(found) if is_code else "&lt;" if found[0] == "<" else ""

    return _LOADS.sub(neutral, text)


def _with_unseen(found: re.Match[str]) -> str:
    return found[0] + _UNSEEN
