"""Asks whether a new or changed skill may run: in a card if our front end shows the notebook, else by `input()`.

It never trusts by itself: a yes comes from the server, after the card or the skills panel gave it, or was typed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.cell_user import CellUser, NoInput
from onyx_jupyter.magics.connection import ConnectionGone, ServerConnection, retry_connection
from onyx_jupyter.magics.skill_run import SkillRun
from onyx_jupyter.magics.tool_words import block, escaped
from onyx_jupyter.security.visible_characters import with_marks

MIME_TYPE = "application/vnd.onyx.skill-question+json"
SCHEMA_VERSION = 1
RECONNECT_S = 60.0
POLL_S = 30.0
_NO = "not trusted, so it was not run"
_ENDS = {"expired": "nobody answered in time, so it was not run"}

Show = Callable[[str, Mapping[str, Any]], None]


class SkillConsent:
    """One question. `show` puts Markdown below the cell, along with data of other types."""

    def __init__(self, connection: ServerConnection, person: CellUser, show: Show) -> None:
        self._connection = connection
        self._person = person
        self._show = show

    def given(self, running: SkillRun, shown: Mapping[str, Any], *, has_card: bool) -> Mapping[str, Any]:
        """The trusted skill, as in `skills.get`. Raises: MagicError (untrusted, unusable)."""
        skill = shown["skill"]
        title, words, end = f"**{escaped(skill['name'])}**", _words(shown), _NO
        try:
            if not has_card:
                self._show(words, {})
                if self._confirms():
                    running.trust(skill["hash"])
                    return shown
            else:
                closed = self._closed(running, words)
                if closed["outcome"] == "trusted":
                    return running.describe()
                if closed["outcome"] == "unusable":
                    raise MagicError("unusable", f"The skill {skill['name']} cannot be run. {closed.get('reason', '')}")
                end = _ENDS.get(closed["outcome"], _NO)
        except KeyboardInterrupt:
            self._connection.close()  # this closes the question, wherever it is shown
        except (MagicError, ConnectionGone) as error:
            self._show(f"✗ {title} · {escaped(str(error))}", {})
            raise
        self._show(f"– {title} · {end}", {})
        raise MagicError(
            "untrusted",
            f"The skill {skill['name']} was not run: this version of it is not trusted.",
            hint="Trust it in the Onyx skills panel, or answer yes when the cell asks.",
        ) from None

    def _confirms(self) -> bool:
        try:
            return self._person.agrees("Onyx: trust this version and run it? y = yes · n = no: ")
        except NoInput:
            return False

    def _closed(self, running: SkillRun, words: str) -> Mapping[str, Any]:
        """How the question was closed, from the server. Raises: ConnectionGone if the server stays away."""
        question_id = self._ask(running, words)
        looked_at = time.monotonic()
        while True:
            try:
                event, data = self._connection.next_event(POLL_S) or ("", {})
                if event == "skills.question_closed" and data["questionId"] == question_id:
                    return data
                if event in ("", "skills.updated") or time.monotonic() - looked_at >= POLL_S:
                    # The server checks whether the question is still needed, and sends an event if it is not.
                    self._connection.request("skills.question", questionId=question_id)
                    looked_at = time.monotonic()
            except ConnectionGone:
                question_id = retry_connection(lambda: self._ask_again(running, words), RECONNECT_S)

    def _ask(self, running: SkillRun, words: str) -> str:
        question_id: str = self._connection.request("skills.ask", **running.place)["questionId"]
        # Only the id: any code in a kernel can write an output, so the card gets everything else from the server.
        card = {"schemaVersion": SCHEMA_VERSION, "questionId": question_id}
        self._show(f"{words}\n\n*Waiting for your answer, here or in the Onyx skills panel.*", {MIME_TYPE: card})
        return question_id

    def _ask_again(self, running: SkillRun, words: str) -> str:
        """Asks again: the previous question ended with its connection."""
        self._connection.close()
        return self._ask(running, words)


def _words(shown: Mapping[str, Any]) -> str:
    skill = shown["skill"]
    diff, text = with_marks(shown.get("diff") or ""), with_marks(shown["text"])
    what = block(diff, "diff") if diff else block(text, "python")
    head = "changed since you trusted it" if skill["changed"] else "new on this server"
    return f"**The skill {escaped(skill['name'])} is {head}.** It would run:\n\n{what}"
