"""Parses what follows `%onyx`: options, then the question, or a command with its own options."""

from __future__ import annotations

import ast
import difflib
import json
import keyword
import re
from dataclasses import dataclass, fields, replace
from datetime import date
from typing import Any

from onyx_jupyter.errors import MagicError

MODES = ("ask", "agent", "auto")
OUT_TYPES = ("str", "json", "frame")
_VALUED = ("agent", "session", "model", "mode", "out", "out-type", "schema", "since", "until")
_FLAGS = ("code",)
_OPTION = re.compile(r"--([A-Za-z][\w-]*)(=)?")
# Each command with its options; a command that takes no words begins a question if words follow it.
_COMMANDS = {"help": (), "sessions": ("agent",), "memory": ("agent", "since", "until"), "skill": ("agent", "out")}
_ALONE = ("help", "sessions")
_DAYS = ("since", "until")
_CLOSING = {"{": "}", "[": "]", "(": ")"}


@dataclass(frozen=True)
class Options:
    """The choices for one question; None means unchanged. `schema` is the text as it was written."""

    agent: str | None = None
    session: str | None = None
    model: str | None = None
    mode: str | None = None
    out: str | None = None
    out_type: str | None = None
    schema: str | None = None
    since: str | None = None
    until: str | None = None
    code: bool = False


NOTHING_CHOSEN = Options()


@dataclass(frozen=True)
class MagicCall:
    """One call of the magic. `command` is empty for a question; `text` is the question, or the command's argument."""

    options: Options
    command: str
    text: str


def parse(line: str, cell: str | None = None) -> MagicCall:
    """Raises: MagicError (usage). A cell's first line holds options and may begin the question."""
    options, rest, forced = _options(line)
    if cell is not None:
        question = "\n\n".join(part for part in (rest.strip(), cell.strip()) if part)
        return _question(options, question)
    word, _, more = rest.strip().partition(" ")
    if not forced and word in _COMMANDS and not (word in _ALONE and more.strip()):
        options, text, _ = _options(more, options)
        return MagicCall(_taken(_checked(options), word), word, text.strip())
    return _question(options, rest.strip())


def closing(line: str, place: int, name: str) -> int:
    """The position after the bracket that closes the one at `place`, ignoring quoted ones. Raises: MagicError."""
    waiting: list[str] = []
    quote = ""
    number = place
    while number < len(line):
        sign = line[number]
        if quote:
            number += sign == "\\"
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in _CLOSING:
            waiting.append(_CLOSING[sign])
        elif waiting and sign == waiting[-1]:
            waiting.pop()
            if not waiting:
                return number + 1
        number += 1
    raise _usage(f"The value of {name} starts with {line[place]} but is never closed.")


def _question(options: Options, text: str) -> MagicCall:
    """Raises: MagicError (usage) if an option is only for a search of memory."""
    for name in _DAYS:
        if getattr(options, name) is not None:
            raise _usage(f"--{name} is for %onyx memory; name the dates in your question instead.")
    return MagicCall(_checked(options), "", text)


def _options(line: str, options: Options = NOTHING_CHOSEN) -> tuple[Options, str, bool]:
    """The options including earlier ones, the rest, and whether `--` says that it is a question."""
    place = 0
    while True:
        place += len(line[place:]) - len(line[place:].lstrip())
        if re.match(r"--(\s|$)", line[place:]):
            return options, line[place + 2 :], True
        found = _OPTION.match(line, place)
        if found is None:
            return options, line[place:], False
        name = found[1]
        if name in _FLAGS and not found[2]:
            options, place = replace(options, code=True), found.end()
        elif name in _VALUED:
            value, place = _value(line, found.end(), name)
            field = name.replace("-", "_")
            if getattr(options, field) is not None:
                raise _usage(f"--{name} is given twice.")
            chosen: dict[str, Any] = {field: value}
            options = replace(options, **chosen)
        else:
            raise _unknown(name)


def _value(line: str, place: int, name: str) -> tuple[str, int]:
    """The option's value and where it ends: a word, a quoted text, or a text in brackets."""
    place += len(line[place:]) - len(line[place:].lstrip())
    first = line[place : place + 1]
    if not first or re.match(r"--\w", line[place:]):
        raise _usage(f"--{name} needs a value.")
    if first in "\"'":
        end = line.find(first, place + 1)
        if end < 0:
            raise _usage(f"The value of --{name} starts with {first} but is never closed.")
        return line[place + 1 : end], end + 1
    if first in _CLOSING:
        end = closing(line, place, f"--{name}")
        return line[place:end], end
    end = place + len(line[place:].split(None, 1)[0])
    return line[place:end], end


def _checked(options: Options) -> Options:
    if options.mode is not None and options.mode not in MODES:
        raise _usage(f"--mode {options.mode} is not valid. Choose {', '.join(MODES)}.")
    if options.out_type is not None and options.out_type not in OUT_TYPES:
        raise _usage(f"--out-type {options.out_type} is not valid. Choose {', '.join(OUT_TYPES)}.")
    if options.out is not None and (not options.out.isidentifier() or keyword.iskeyword(options.out)):
        raise _usage(f"--out {options.out}: not a valid variable name.")
    for given, name in ((options.out_type, "out-type"), (options.schema, "schema")):
        if given is not None and options.out is None:
            raise _usage(f"--{name} needs --out NAME: the variable that gets the result.")
    for name in _DAYS:
        given = getattr(options, name)
        if given is not None and not _is_day(given):
            raise _usage(f"--{name} {given}: not a valid date. Use the form 2026-03-14.")
    if options.schema is not None and options.out_type not in (None, "json"):
        raise _usage(f"--schema describes JSON, so it cannot be combined with --out-type {options.out_type}.")
    return options


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _taken(options: Options, command: str) -> Options:
    """Raises: MagicError (usage) if the command would ignore an option."""
    given = [field.name.replace("_", "-") for field in fields(options) if getattr(options, field.name)]
    idle = [f"--{name}" for name in given if name not in _COMMANDS[command]]
    if idle:
        takes = " and ".join(f"--{name}" for name in _COMMANDS[command]) or "no options"
        raise MagicError(
            "usage",
            f"%onyx {command} takes {takes}, so {' and '.join(idle)} would have no effect.",
            hint=f"To ask the agent instead, put -- before the question: %onyx {idle[0]} … -- {command} …",
        )
    return options


def literal(text: str) -> Any:
    """A schema as it was written: JSON, or a Python literal. Raises: ValueError."""
    try:
        return json.loads(text)
    except ValueError:
        try:
            return ast.literal_eval(text)
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            raise ValueError("it is neither JSON nor a Python literal") from error


def _unknown(name: str) -> MagicError:
    known = [*_VALUED, *_FLAGS]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean --{close[0]}?" if close else f"Options: --{', --'.join(known)}."
    return _usage(f"There is no option --{name}. {hint}")


def _usage(message: str) -> MagicError:
    return MagicError("usage", message, hint="%onyx help shows every option; -- ends the options.")
