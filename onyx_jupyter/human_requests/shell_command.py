"""Splits a shell command into its simple commands, each with the exact argv that will run.

What it cannot determine exactly it refuses, with the reason: then a person is asked each time.
"""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from onyx_jupyter.human_requests.shell_programs import why_always_asked

if TYPE_CHECKING:
    from tree_sitter import Language, Node

MAX_COMMAND_CHARS = 10_000
MAX_SEGMENTS = 30
# Unquoted, these stand for themselves in every shell; all else may be a pattern, an expansion or an operator.
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-")
_OPERATORS = frozenset({"&&", "||", ";", "|"})
_BETWEEN = frozenset(b" \t")
_REASONS = {
    "command_substitution": "it inserts the output of another command",
    "process_substitution": "it inserts the output of another command",
    "file_redirect": "it redirects input or output",
    "herestring_redirect": "it redirects input or output",
    "heredoc_redirect": "it redirects input or output",
    "redirected_statement": "it redirects input or output",
    "|&": "it redirects input or output",
    "&": "it leaves a process running in the background",
    "simple_expansion": "it uses a variable",
    "expansion": "it uses a variable",
    "arithmetic_expansion": "it uses a variable",
    "$": "it uses a variable",
    "ansi_c_string": "it contains a kind of quoting that the shell rewrites",
    "translated_string": "it contains a kind of quoting that the shell rewrites",
    "variable_assignment": "it sets a variable",
    "variable_assignments": "it sets a variable",
    "declaration_command": "it sets a variable",
    "unset_command": "it sets a variable",
    "comment": "it contains a comment",
    "function_definition": "it defines a function",
    "negated_command": "it contains a control structure",
    "test_command": "it contains a control structure",
    "subshell": "it contains a control structure",
    "compound_statement": "it contains a control structure",
    "if_statement": "it contains a control structure",
    "for_statement": "it contains a control structure",
    "c_style_for_statement": "it contains a control structure",
    "while_statement": "it contains a control structure",
    "case_statement": "it contains a control structure",
    "brace_expression": "it contains a pattern that the shell expands",
    "extglob_pattern": "it contains a pattern that the shell expands",
}
_UNREADABLE = "it cannot be parsed reliably"


class InexactCommand(Exception):
    """What the command would run cannot be bound exactly; `str` says why, as the rest of “…, because it …”."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One simple command; `is_piped` means that it reads the output of another one."""

    argv: tuple[str, ...]
    is_piped: bool = False

    @property
    def text(self) -> str:
        """The canonical form: quoted only where a shell needs it."""
        return shlex.join(self.argv)


def split(command: str) -> tuple[Segment, ...]:
    """Every simple command of the line, in order. Raises: InexactCommand."""
    line = _one_line(command)
    source = line.encode()
    root = _parse(source)
    if root.has_error:
        raise InexactCommand(_UNREADABLE)
    tokens = list(_tokens(root, source))
    if [text for text, _ in tokens] != _cross_check(line):
        raise InexactCommand(_UNREADABLE)
    segments = _segments(tokens)
    for segment in segments:
        if reason := why_always_asked(segment.argv, is_piped=segment.is_piped):
            raise InexactCommand(reason)
    return segments


def _one_line(command: str) -> str:
    """Strips trailing whitespace. Raises: InexactCommand if a character could deceive a reader or the parser."""
    line = command.rstrip(" \t\n")
    if len(line) > MAX_COMMAND_CHARS:
        raise InexactCommand(f"it is longer than {MAX_COMMAND_CHARS} characters")
    if line.endswith("\\"):
        raise InexactCommand(_UNREADABLE)
    for character in line:
        # Controls, invisible and direction marks, halves of surrogate pairs, unassigned: Unicode's general category C;
        # separators of lines and paragraphs.
        category = unicodedata.category(character)
        if (category.startswith("C") and character not in "\t\n") or category in ("Zl", "Zp"):
            raise InexactCommand("it contains invisible characters")
    return line


def _parse(source: bytes) -> Node:
    """The syntax tree's root. Uses a new parser each time, since threads must not share one."""
    from tree_sitter import Parser

    return Parser(_bash()).parse(source).root_node


@cache
def _bash() -> Language:
    """Loaded on first use; the caller is on a thread."""
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())


Token = tuple[str, bool]
"""A word or an operator, and whether it is an operator."""


def _tokens(root: Node, source: bytes) -> Iterator[Token]:
    """The line as words and operators, every byte of it accounted for. Raises: InexactCommand at anything else."""
    stack, end = [root], 0
    while stack:
        node = stack.pop()
        if node.type in ("program", "list", "pipeline", "command", "command_name"):
            stack.extend(reversed(node.children))
            continue
        if any(byte not in _BETWEEN for byte in source[end : node.start_byte]):
            raise InexactCommand("it has more than one line" if b"\n" in source[end : node.start_byte] else _UNREADABLE)
        end = node.end_byte
        if node.type in _OPERATORS:
            yield node.type, True
        else:
            yield _word(node, source), False
    if source[end:].strip(b" \t"):
        raise InexactCommand(_UNREADABLE)


def _word(node: Node, source: bytes) -> str:
    if node.type == "concatenation":
        edges = [node.start_byte, *(child.end_byte for child in node.children)]
        if edges != [*(child.start_byte for child in node.children), node.end_byte]:
            raise InexactCommand(_UNREADABLE)
        return "".join(_word(child, source) for child in node.children)
    text = source[node.start_byte : node.end_byte].decode()
    match node.type:
        case "word" | "number":
            return _unquoted(text)
        case "raw_string":
            return text[1:-1]
        case "string":
            return _double_quoted(node, text[1:-1])
    raise InexactCommand(_REASONS.get(node.type, _UNREADABLE))


def _unquoted(text: str) -> str:
    characters, plain = iter(text), ""
    for character in characters:
        if character == "\\":
            character = next(characters, "\n")
            if not " " <= character <= "~":
                raise InexactCommand(_UNREADABLE)
        elif character not in _PLAIN:
            raise InexactCommand(
                "it contains a pattern that the shell expands" if character in "*?[]{}~!^" else _UNREADABLE
            )
        plain += character
    return plain


def _double_quoted(node: Node, text: str) -> str:
    for child in node.children:
        if child.type not in ('"', "string_content"):
            raise InexactCommand(_REASONS.get(child.type, _UNREADABLE))
    if "$" in text or "`" in text:
        raise InexactCommand("it uses a variable")
    characters, plain = iter(text), ""
    for character in characters:
        if character == '"':
            raise InexactCommand(_UNREADABLE)
        if character == "\\":
            following = next(characters, "\n")
            if following == "\n":
                raise InexactCommand("it has more than one line")
            character = following if following in '"\\' else f"\\{following}"
        plain += character
    return plain


def _cross_check(line: str) -> list[str]:
    """Words and operators according to a second parser: if the two disagree, neither is trusted."""
    reader = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
    reader.whitespace = " \t"
    reader.whitespace_split = True
    reader.commenters = ""
    try:
        return list(reader)
    except ValueError:
        raise InexactCommand(_UNREADABLE) from None


def _segments(tokens: list[Token]) -> tuple[Segment, ...]:
    segments: list[Segment] = []
    argv: list[str] = []
    is_piped = False
    for text, is_operator in [*tokens, (";", True)]:
        if not is_operator:
            argv.append(text)
            continue
        if argv:
            segments.append(Segment(tuple(argv), is_piped))
        argv, is_piped = [], text == "|"
    if not segments:
        raise InexactCommand(_UNREADABLE)
    if len(segments) > MAX_SEGMENTS:
        raise InexactCommand(f"it contains more than {MAX_SEGMENTS} commands")
    return tuple(segments)
