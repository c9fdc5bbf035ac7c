"""Asks whether a new or changed skill may run: in a card where our front end shows the notebook, else by `input()`.

It never trusts by itself: a yes is `skills.trust`, from the card, from the skills panel or from what was typed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.connection import ConnectionGone, ServerConnection, patiently
from onyx_jupyter.magics.person import NoInput, Person
from onyx_jupyter.magics.skill_run import SkillRun
from onyx_jupyter.magics.tool_words import block, escaped

MIME_TYPE = "application/vnd.onyx.skill-consent+json"
SCHEMA_VERSION = 1
WAITS_S = 1800.0
RECONNECT_S = 60.0
_LOOKS_S = 10.0

Show = Callable[[str, Mapping[str, Any]], None]


class SkillConsent:
    """One question. `show` puts Markdown below the cell, with what other types of data stand beside it."""

    def __init__(
        self, connection: ServerConnection, person: Person, show: Show, kernel_id: str, *, waits_s: float = WAITS_S
    ) -> None:
        self._connection = connection
        self._person = person
        self._show = show
        self._kernel_id = kernel_id
        self._waits_s = waits_s

    def given(self, running: SkillRun, shown: Mapping[str, Any], *, has_card: bool) -> Mapping[str, Any]:
        """The skill as it was trusted, as `skills.get` has it. Raises: MagicError (untrusted)."""
        skill = shown["skill"]
        title, words = f"**{escaped(skill['name'])}**", _words(shown)
        try:
            if not has_card:
                self._show(words, {})
                if self._types_yes():
                    running.trust(skill["hash"])
                    return shown
            else:
                # The card takes from this only which skill is meant: what it shows and trusts, it asks the server for.
                card = {"schemaVersion": SCHEMA_VERSION, "kernelId": self._kernel_id, **running.place}
                self._show(f"{words}\n\n*Waits for your answer, here or in the Onyx skills panel.*", {MIME_TYPE: card})
                trusted = self._answered(running)
                if trusted is not None:
                    return trusted
        except KeyboardInterrupt:  # also how the card says no
            pass
        except (MagicError, ConnectionGone) as error:
            self._show(f"✗ {title} · {escaped(str(error))}", {})
            raise
        self._show(f"– {title} · not trusted, so it was not run", {})
        raise MagicError(
            "untrusted",
            f"The skill {skill['name']} was not run: this version of it is not trusted.",
            hint="Trust it in the Onyx skills panel, or say yes where the cell asks.",
        ) from None

    def _types_yes(self) -> bool:
        try:
            return self._person.agrees("Onyx: trust this version and run it? y = yes · n = no: ")
        except NoInput:
            return False

    def _answered(self, running: SkillRun) -> Mapping[str, Any] | None:
        """None where nobody trusts it for that long. Raises: ConnectionGone where the server stays away."""
        deadline = time.monotonic() + self._waits_s
        while time.monotonic() < deadline:
            try:
                event = self._connection.next_event(_LOOKS_S)
                if event is not None and event[0] != "skills.updated":
                    continue
                shown = running.describe()
            except ConnectionGone:
                shown = patiently(lambda: self._anew(running), RECONNECT_S)
            if shown["skill"]["state"] != "untrusted":
                return shown
        return None

    def _anew(self, running: SkillRun) -> dict[str, Any]:
        self._connection.close()
        return running.describe()


def _words(shown: Mapping[str, Any]) -> str:
    skill = shown["skill"]
    what = block(shown["diff"], "diff") if shown.get("diff") else block(shown["text"], "python")
    head = "changed since you trusted it" if skill["changed"] else "new here"
    return f"**The skill {escaped(skill['name'])} is {head}.** It would run this:\n\n{what}"
