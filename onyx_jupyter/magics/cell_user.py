"""Asks the user at the cell through `input()`, if none of our cards can."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from onyx_jupyter.magics.tool_words import block, escaped
from onyx_jupyter.protocols import CARD_FACTS
from onyx_jupyter.security.visible_characters import with_marks

NO_INPUT = (
    "This needs approval, but this notebook runs without input (nbclient, or a front end without it), "
    "so it was not done. In JupyterLab with Onyx, the cell asks."
)
_TRIES = 3
_SHOWN_FIRST = ("command", "source", "newSource", "diff", "content", "url", "query", "message", "text")
_CAUTIONS = {
    "secret": "Contains what looks like a secret. You see all of it; the conversation and the model don’t.",
    "invisible": "Contains invisible characters, shown as marks.",
    "look_alike": "Contains look-alike characters, shown as marks.",
}
_NEEDS_BLOCK = re.compile(r"\n|  |^\s|\s$")  # Markdown would not show it unchanged
_LANGUAGES = {"command": "bash", "source": "python", "diff": "diff"}


@dataclass(frozen=True)
class Decision:
    """The user's choice: the scope of a yes, or no with a reason."""

    scope: Literal["once", "session"] | None
    reason: str = ""


class NoInput(Exception):
    """Nobody can type here."""


class CellUser:
    """The user at the cell. `ask` is `input`."""

    def __init__(self, ask: Callable[[str], str]) -> None:
        self._ask = ask

    def decide(self, approval: Mapping[str, Any]) -> Decision:
        """Asks until the answer is clear; three unclear answers are a no. Raises: NoInput."""
        session = " · s = yes, for this session" if can_session(approval) else ""
        prompt = f"Onyx: allow this? y = yes, once{session} · n = no, and why: "
        for _ in range(_TRIES):
            words = self._input(prompt)
            choice, _, rest = words.partition(" ")
            match choice.casefold().rstrip(",.:"):
                case "y" | "yes" if not rest:
                    return Decision("once")
                case "s" | "session" if session and not rest:
                    return Decision("session")
                case "n" | "no":
                    return Decision(None, rest.strip())
        return Decision(None, "The reply was neither yes nor no.")

    def agrees(self, prompt: str) -> bool:
        """Only an explicit yes counts as yes. Raises: NoInput."""
        return self._input(prompt).casefold() in ("y", "yes")

    def answer(self, question: Mapping[str, Any]) -> str | None:
        """The answer's words; None declines. Raises: NoInput."""
        choices: list[str] = list(question["choices"])
        kinds = [*(["a number"] if choices else []), *(["your words"] if question["freeText"] else [])]
        prompt = f"Onyx: {' or '.join(kinds)}, empty to skip: "
        for _ in range(_TRIES):
            words = self._input(prompt)
            if not words:
                return None
            if words.isdigit() and 1 <= int(words) <= len(choices):
                return choices[int(words) - 1]
            if question["freeText"] or words in choices:
                return words
        return None

    def _input(self, prompt: str) -> str:
        try:
            return self._ask(prompt).strip()
        except EOFError as error:
            raise NoInput from error
        except Exception as error:
            # IPython's StdinNotImplementedError: raised by the kernel if its front end takes no input.
            if type(error).__name__ == "StdinNotImplementedError":
                raise NoInput from error
            raise


def can_session(approval: Mapping[str, Any]) -> bool:
    """Whether a yes for the session would cover more than this one call."""
    details = approval["details"]
    return not details.get("alwaysBlocked") or not str(details.get("sessionScope", "")).startswith("only this once")


def approval_text(approval: Mapping[str, Any]) -> str:
    """Exactly and completely what would run, in Markdown; invisible characters appear as a mark, `⟨U+202E⟩`."""
    facts = approval["details"]
    details = _with_diff({name: value for name, value in facts.items() if name not in CARD_FACTS})
    order = [name for name in _SHOWN_FIRST if name in details] + [name for name in details if name not in _SHOWN_FIRST]
    lines = [f"**Onyx asks: {_shown(approval['summary'])}**"]
    lines += [_shown(why)] if (why := str(facts.get("why") or "").strip()) else []
    lines += [f"Asked in every mode, because {_shown(str(facts['mustAsk']))}."] if facts.get("mustAsk") else []
    lines += [_detail(name, details[name]) for name in order if details[name] is not None]
    lines += [f"*{_CAUTIONS[caution]}*" for caution in facts.get("cautions", ()) if caution in _CAUTIONS]
    if can_session(approval) and facts.get("sessionScope"):
        lines.append(f"*s* would allow {_shown(str(facts['sessionScope']))}.")
    return "\n\n".join([*lines, f"*Without an answer by {_clock(approval['expiresAt'])} it is denied.*"])


def question_text(question: Mapping[str, Any]) -> str:
    """The question and its numbered choices, in Markdown."""
    choices = [f"{number}. {_shown(choice)}" for number, choice in enumerate(question["choices"], 1)]
    return "\n\n".join(filter(None, [f"**Onyx asks: {_shown(question['question'])}**", "\n".join(choices)]))


def _detail(name: str, value: Any) -> str:
    """One argument or fact with its name: text as text, cells one by one, everything else as JSON."""
    title = _shown(name)
    if name == "cells" and isinstance(value, list) and all(map(_is_cell, value)):
        return "\n\n".join(f"{title} {cell['number']}:\n\n{_block(cell['source'], 'source')}" for cell in value)
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False, indent=2)
    elif name not in _SHOWN_FIRST and not _NEEDS_BLOCK.search(value):
        return f"{title}: {_shown(value)}"
    return f"{title}:\n\n{_block(value, name)}"


def _is_cell(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("source"), str) and isinstance(value.get("number"), int)


def _block(text: str, name: str) -> str:
    return block(with_marks(text), _LANGUAGES.get(name, ""))


def _shown(text: str) -> str:
    return escaped(with_marks(text))


def _with_diff(details: dict[str, Any]) -> dict[str, Any]:
    """An edited cell as a diff of all of it: the user decides about the change, and the rest runs with it."""
    if not {"oldSource", "newSource"} <= set(details):
        return details
    before, after = (str(details[name]).split("\n") for name in ("oldSource", "newSource"))
    lines = difflib.unified_diff(before, after, lineterm="", n=len(before) + len(after))
    diff = "\n".join(list(lines)[3:])  # without the header: it covers the whole cell
    return {"diff": diff, **{name: value for name, value in details.items() if name not in ("oldSource", "newSource")}}


def _clock(moment: str) -> str:
    try:
        return f"{datetime.fromisoformat(moment).astimezone():%H:%M}"
    except ValueError:
        return moment
