"""Determines what "always" would cover for one call: digests to compare, and a description to read."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.human_requests.shell_command import InexactCommand, Segment, split
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import ExactScope, ToolPreview

log = logging.getLogger(__name__)
WHAT_CHARS = 300
UNTIL_REVOKED = "in every session, until you revoke it"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that can be allowed: `digest` is the SHA-256 of its canonical form, `what` its description in lists."""

    digest: str
    what: str


@dataclass(frozen=True, slots=True)
class Scope:
    """What a call asks for. All of `items` must be allowed for it to run unasked.

    `blocked` is the reason why it is asked each time; there are no items then. `session_keys` is what "allow for this
    session" remembers, `session_text` and `always_text` describe the two choices.
    """

    items: tuple[Item, ...]
    session_keys: frozenset[str]
    session_text: str
    always_text: str | None
    blocked: str | None = None


def scope_of(call: ToolCall, preview: ToolPreview) -> Scope:
    """May parse a shell command, so do not call it in the event loop."""
    if preview.must_ask:
        return blocked(preview.must_ask)
    exactly = preview.exactly
    arguments = {name: value for name, value in call.arguments.items() if name not in exactly.without}
    bound = {"tool": call.name, "arguments": arguments, "facts": dict(exactly.facts)}
    if exactly.shell is not None:
        return _shell_scope(exactly.shell, bound)
    if reason := _why_inexact(exactly):
        return blocked(reason)
    item = Item(_digest(bound), _what(preview.summary, {**exactly.facts, **arguments}))
    return Scope(
        items=(item,),
        session_keys=frozenset({preview.grant}),
        session_text=preview.grant_text,
        always_text=f"exactly this call, with the same arguments, {UNTIL_REVOKED}",
    )


def _why_inexact(exactly: ExactScope) -> str:
    """Checks the commands within a call: they run with their own folder and variables, but exactly as written."""
    if exactly.unsure:
        return exactly.unsure
    for command in exactly.commands:
        try:
            split(command)
        except InexactCommand as error:
            return str(error)
        except Exception:  # as above
            log.exception("A shell command could not be parsed")
            return "it cannot be parsed reliably"
    return ""


def blocked(reason: str, session_text: str | None = None, session_keys: frozenset[str] = frozenset()) -> Scope:
    """A call that no grant can cover."""
    return Scope((), session_keys, session_text or f"only this once, because {reason}", None, reason)


def _shell_scope(command: str, bound: Mapping[str, Any]) -> Scope:
    try:
        segments = split(command)
    except InexactCommand as error:
        return blocked(str(error))
    except Exception:  # a parser that fails must never bypass the approval
        log.exception("A shell command could not be parsed")
        return blocked("it cannot be parsed reliably")
    cwd = str(bound["facts"].get("cwd", ""))
    items = {_segment_item(segment, cwd, bound): None for segment in segments}
    commands = " and ".join(f"`{text}`" for text in dict.fromkeys(segment.text for segment in segments))
    each = ", each exactly so," if len(items) > 1 else ", exactly so,"
    where = f"{commands}{each} in {cwd}"
    return Scope(
        items=tuple(items),
        session_keys=frozenset(item.digest for item in items),
        session_text=where,
        always_text=f"{where}, {UNTIL_REVOKED}",
    )


def _segment_item(segment: Segment, cwd: str, bound: Mapping[str, Any]) -> Item:
    return Item(_digest({**bound, "argv": segment.argv}), _shorten(f"`{segment.text}` in {cwd}"))


def _what(summary: str, facts: Mapping[str, Any]) -> str:
    return _shorten(f"{summary} · {json.dumps(facts, ensure_ascii=False, sort_keys=True)}" if facts else summary)


def _shorten(text: str) -> str:
    return text if len(text) <= WHAT_CHARS else f"{text[: WHAT_CHARS - 1]}…"


def _digest(bound: Mapping[str, Any]) -> str:
    canonical = json.dumps(bound, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
