"""Asks the person at the cell through `input()`, where no card of ours can. It decides nothing for them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from onyx_jupyter.magics.tool_words import block, escaped

NO_INPUT = (
    "Nobody could be asked: this notebook runs without input (nbclient, or a front end that has none), so it was not "
    "done. Where it is open in JupyterLab with Onyx it is asked in the cell."
)
_TRIES = 3
_OWN = frozenset({"sessionScope", "alwaysScope", "alwaysBlocked", "why"})
_SHOWN_FIRST = ("command", "source", "newSource", "diff", "content", "url", "query", "message", "text")
_LANGUAGES = {"command": "bash", "source": "python", "diff": "diff"}


@dataclass(frozen=True)
class Decision:
    """What the person chose: how far a yes reaches, or no with a reason."""

    scope: Literal["once", "session"] | None
    reason: str = ""


class NoInput(Exception):
    """Nobody can type here."""


class Person:
    """Whoever sits at the cell. `ask` is `input`."""

    def __init__(self, ask: Callable[[str], str]) -> None:
        self._ask = ask

    def decide(self, approval: Mapping[str, Any]) -> Decision:
        """Until it is clear; three unclear answers are a no. Raises: NoInput."""
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
        return Decision(None, "The answer was neither yes nor no.")

    def agrees(self, prompt: str) -> bool:
        """Yes and nothing else is a yes. Raises: NoInput."""
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
            # IPython's StdinNotImplementedError: what the kernel raises where its front end takes no input.
            if type(error).__name__ == "StdinNotImplementedError":
                raise NoInput from error
            raise


def can_session(approval: Mapping[str, Any]) -> bool:
    """Whether a yes for the session would reach beyond this once."""
    details = approval["details"]
    return not details.get("alwaysBlocked") or not str(details.get("sessionScope", "")).startswith("only this once")


def approval_text(approval: Mapping[str, Any]) -> str:
    """What would run, exactly and whole, in Markdown."""
    details = _with_diff({name: value for name, value in approval["details"].items() if name not in _OWN})
    order = [name for name in _SHOWN_FIRST if name in details] + [name for name in details if name not in _SHOWN_FIRST]
    lines = [f"**Onyx asks: {escaped(approval['summary'])}**"]
    if why := str(approval["details"].get("why") or "").strip():
        lines.append(escaped(why))
    for name in order:
        value = details[name]
        if value is None:
            continue
        if isinstance(value, str) and (name in _SHOWN_FIRST or "\n" in value):
            lines.append(f"{escaped(name)}:\n\n{block(value, _LANGUAGES.get(name, ''))}")
        else:
            lines.append(f"{escaped(name)}: {escaped(str(value))}")
    if can_session(approval) and approval["details"].get("sessionScope"):
        lines.append(f"*s* would allow {escaped(str(approval['details']['sessionScope']))}.")
    return "\n\n".join([*lines, f"*Without an answer by {_clock(approval['expiresAt'])} it is denied.*"])


def question_text(question: Mapping[str, Any]) -> str:
    """The question and its numbered choices, in Markdown."""
    choices = [f"{number}. {escaped(choice)}" for number, choice in enumerate(question["choices"], 1)]
    return "\n\n".join(filter(None, [f"**Onyx asks: {escaped(question['question'])}**", "\n".join(choices)]))


def _with_diff(details: dict[str, Any]) -> dict[str, Any]:
    """An edited cell as a diff: what changes is what one decides about."""
    if not {"oldSource", "newSource"} <= set(details):
        return details
    before, after = (str(details[name]).splitlines() for name in ("oldSource", "newSource"))
    diff = "\n".join(list(difflib.unified_diff(before, after, lineterm="", n=3))[2:])
    return {"diff": diff, **{name: value for name, value in details.items() if name not in ("oldSource", "newSource")}}


def _clock(moment: str) -> str:
    try:
        return f"{datetime.fromisoformat(moment).astimezone():%H:%M}"
    except ValueError:
        return moment
