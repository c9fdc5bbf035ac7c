"""`%onyx skill NAME key=value …`: runs a skill, shows its progress and result, and asks before a new one runs."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.cell_user import CellUser
from onyx_jupyter.magics.connection import ConnectionGone, Refused, ServerConnection
from onyx_jupyter.magics.shown_data import output_data, text_data
from onyx_jupyter.magics.skill_arguments import parse_call, values
from onyx_jupyter.magics.skill_consent import MIME_TYPE, SkillConsent
from onyx_jupyter.magics.skill_run import SkillResult, SkillRun, ended, stop
from onyx_jupyter.magics.tool_words import code, escaped
from onyx_jupyter.magics.turn_view import Publisher

_MARKS = {"ok": "✓", "stopped": "–"}


class SkillCommand:
    """One call. `evaluated` returns the value of an expression in the user's kernel."""

    def __init__(
        self,
        connection: ServerConnection,
        publisher: Publisher,
        person: CellUser,
        kernel_id: str,
        evaluated: Callable[[str], Any],
    ) -> None:
        self._connection = connection
        self._publisher = publisher
        self._consent = SkillConsent(connection, person, self._show)
        self._kernel_id = kernel_id
        self._evaluated = evaluated
        self._display_id = f"onyx-{uuid.uuid4().hex}"
        self._is_shown = False

    def run(self, text: str, agent: str | None) -> SkillResult:
        """Shows and returns the result. Raises: MagicError if it cannot run, was stopped or failed."""
        name, given = parse_call(text)
        running = SkillRun(self._connection, name, agent)
        shown: Mapping[str, Any] = running.describe()
        front = self._connection.request("client.shows", kernelId=self._kernel_id)
        if shown["skill"]["state"] == "untrusted":
            shown = self._consent.given(running, shown, has_card=MIME_TYPE in front.get("cards", ()))
        parameters = values(given, (shown["skill"].get("parameters") or {}).get("fields", ()), self._evaluated)
        title = f"**{escaped(name)}**"
        self._show(f"{title} · starting")
        try:
            result = running.run(
                parameters, front.get("path"), lambda line, _: self._show(f"{title} · {escaped(line)}")
            )
        except KeyboardInterrupt:
            self._show(f"{title} · {self._stop(running)}")
            raise MagicError("stopped", "Stopped: the cell was interrupted.") from None
        except (MagicError, ConnectionGone) as error:
            self._show(f"✗ {title} · {escaped(str(error))}")
            raise
        self._show_result(result)
        return result

    def _stop(self, running: SkillRun) -> str:
        """Stops the run; returns the outcome in words."""
        try:
            began = running.began()
            self._connection.close()
            if began:
                stop(self._connection, running.run_id)
        except Refused:
            pass  # it never began, or is over
        except (ConnectionGone, MagicError):
            return "The server could not be reached to stop it, so it may still be running there."
        finally:
            self._connection.close()
        return "stopped"

    def _show_result(self, result: SkillResult) -> None:
        mark = _MARKS.get(str(result.run["status"]), "✗")
        copy = code(result.copy)
        page = self._connection.server.page(result.copy) if result.run.get("copyPath") else ""
        self._show(f"{mark} {escaped(ended(result))} · {f'[{copy}]({page})' if page else copy}", page=page)
        for output in result.outputs:
            self._publisher.publish(*output_data(output))
        if not result.is_ok:
            raise MagicError("skill", ended(result), hint=f"The executed copy is {result.copy}.")

    def _show(self, text: str, beside: Mapping[str, Any] | None = None, *, page: str = "") -> None:
        bundle = {**(beside or {}), **text_data(text, [page] if page else [])}
        self._publisher.publish(bundle, {}, transient={"display_id": self._display_id}, update=self._is_shown)
        self._is_shown = True
