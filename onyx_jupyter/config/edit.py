"""Changes single values in the text of a JSON5 file; everything else, comments too, stays as it is written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import json5

from onyx_jupyter.config.json5_lines import TOKEN, Path

_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_REST_OF_LINE = re.compile(r"[ \t]*(?://[^\n\r]*|(?:/\*(?:(?!\*/)[^\n\r])*\*/[ \t]*)*)(?=\r?\n)")
_INDENT = "  "
_LONGEST_INLINE = 60


class Edit(Enum):
    """`REMOVED` instead of a value takes the key out of the file."""

    REMOVED = "removed"


REMOVED = Edit.REMOVED


@dataclass
class _Node:
    """A value and where it stands in the text; `parts` are those of an object or a list, by key or position.

    `begins` is where its key begins, `comma` where the comma behind it ends (None if there is none).
    """

    start: int
    end: int = 0
    begins: int = 0
    comma: int | None = None
    opens: str = ""
    parts: dict[str | int, _Node] = field(default_factory=dict)


def apply_edits(text: str, edits: Mapping[Path, Any]) -> str:
    """The text with each key set to its value, or taken out where the value is `REMOVED`.

    `text` is a valid JSON5 object, or empty. Objects along a path are made where they are missing, and a value that
    is none gives way to one. Raises: ValueError for a position in a list that is neither there nor the next one.
    """
    if not any(match.lastgroup != "space" for match in TOKEN.finditer(text)):
        text = f"{text.rstrip()}\n{{\n}}\n".lstrip()
    line_end = "\r\n" if "\r\n" in text else "\n"
    for path, value in edits.items():
        text = _removed(text, path) if value is REMOVED else _set(text, path, value, line_end)
    return text


def _set(text: str, path: Path, value: Any, line_end: str) -> str:
    node = _root(text)
    for depth, key in enumerate(path):
        if key in node.parts:
            node = node.parts[key]
        elif node.opens == ("[" if isinstance(key, int) else "{"):
            return _inserted(text, node, key, _nested(path[depth + 1 :], value), line_end)
        else:
            value = _nested(path[depth:], value)
            break
    indent = _indent_at(text, node.begins)
    return text[: node.start] + _rendered(value, indent, line_end) + text[node.end :]


def _removed(text: str, path: Path) -> str:
    """Without the member and its comma, and without the line if nothing else stands in it."""
    node = _root(text)
    for key in path:
        if key not in node.parts:
            return text
        node = node.parts[key]
    start, end = node.begins, node.comma or node.end
    line_start = text.rfind("\n", 0, start) + 1
    rest = re.compile(r"[ \t]*(\r?\n)?").match(text, end)
    after = rest.end() if rest else end
    if rest and rest.group(1):
        is_alone = not text[line_start:start].strip()
        return text[:line_start] + text[after:] if is_alone else text[:start].rstrip(" \t") + text[end:]
    return text[:start] + text[after:]


def _inserted(text: str, parent: _Node, key: str | int, value: Any, line_end: str) -> str:
    """A new last member, on a line of its own if the others have theirs."""
    if isinstance(key, int) and key != len(parent.parts):
        raise ValueError(f"the list has only {len(parent.parts)} items.")
    name = "" if isinstance(key, int) else f"{_key(key)}: "
    last = next(reversed(parent.parts.values()), None)
    if last is None:
        return _first(text, parent, name, value, line_end)
    end = last.comma or last.end
    head = text[:end] if last.comma else f"{text[:end]},"
    if text[text.rfind("\n", 0, last.begins) + 1 : last.begins].strip():
        return f"{head} {name}{_rendered(value, _indent_at(text, last.begins), line_end)}{text[end:]}"
    indent = _indent_at(text, last.begins)
    rest = _REST_OF_LINE.match(text, end)
    line = rest.end() if rest else end
    return f"{head}{text[end:line]}{line_end}{indent}{name}{_rendered(value, indent, line_end)},{text[line:]}"


def _first(text: str, parent: _Node, name: str, value: Any, line_end: str) -> str:
    """The first member of an empty object or list, behind the comments in it."""
    close = parent.end - 1
    line_start = text.rfind("\n", 0, close) + 1
    outer = _indent_at(text, parent.begins)
    indent = outer + _INDENT
    if line_start <= parent.start:  # {} in one line
        shown = _rendered(value, outer, line_end)
        return f"{text[:close].rstrip(' ')} {name}{shown} {text[close:]}"
    member = f"{indent}{name}{_rendered(value, indent, line_end)},{line_end}"
    if text[line_start:close].strip():
        return f"{text[:close]}{line_end}{member}{outer}{text[close:]}"
    return f"{text[:line_start]}{member}{text[line_start:]}"


def _nested(path: Path, value: Any) -> Any:
    """The value below new objects and lists for what is left of its path."""
    for key in reversed(path):
        if isinstance(key, int) and key:
            raise ValueError("the list has only 0 items.")
        value = [value] if isinstance(key, int) else {key: value}
    return value


def _rendered(value: Any, indent: str, line_end: str) -> str:
    """As one would write it: unquoted keys, one line if it is short."""
    if not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + _INDENT
    names = [f"{_key(key)}: " for key in value] if isinstance(value, dict) else [""] * len(value)
    parts = value.values() if isinstance(value, dict) else value
    shown = [name + _rendered(part, inner, line_end) for name, part in zip(names, parts, strict=True)]
    inline = ", ".join(shown)
    if len(inline) <= _LONGEST_INLINE and "\n" not in inline:
        return f"{{ {inline} }}" if isinstance(value, dict) else f"[{inline}]"
    opens, closes = "{}" if isinstance(value, dict) else "[]"
    return opens + line_end + "".join(f"{inner}{one},{line_end}" for one in shown) + indent + closes


def _key(key: str) -> str:
    return key if _NAME.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _indent_at(text: str, position: int) -> str:
    """The white space before the first thing in that line."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _root(text: str) -> _Node:
    tokens = (match for match in TOKEN.finditer(text) if match.lastgroup != "space")
    first = next(tokens)
    return _read(first, tokens)


def _read(first: re.Match[str], tokens: Iterator[re.Match[str]]) -> _Node:
    """The value that begins with this token."""
    node = _Node(first.start(), first.end(), first.start())
    if first.group() not in ("{", "["):
        return node
    node.opens = first.group()
    last: _Node | None = None
    for token in tokens:
        node.end = token.end()
        if token.group() in ("}", "]"):
            return node
        if token.group() == ",":
            if last is not None:
                last.comma = token.end()
            continue
        key: str | int = len(node.parts)
        if node.opens == "{":
            key = str(json5.loads(token.group())) if token.lastgroup == "string" else token.group()
            next(tokens)  # the colon
        last = node.parts[key] = _read(next(tokens) if node.opens == "{" else token, tokens)
        last.begins = token.start()
    return node
