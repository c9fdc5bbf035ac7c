"""`%onyx skill NAME key=value …`: runs a skill, shows how far it is and what came out, asks before a new one runs."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.connection import ConnectionGone, Refused, ServerConnection
from onyx_jupyter.magics.person import Person
from onyx_jupyter.magics.skill_arguments import parse_call, values
from onyx_jupyter.magics.skill_consent import MIME_TYPE, SkillConsent
from onyx_jupyter.magics.skill_run import SkillResult, SkillRun, ended, stop
from onyx_jupyter.magics.tool_words import code, escaped
from onyx_jupyter.magics.turn_view import Publisher

_MARKS = {"ok": "✓", "stopped": "–"}


class SkillCommand:
    """One call. `evaluated` gives the value of an expression in the user's kernel."""

    def __init__(
        self,
        connection: ServerConnection,
        publisher: Publisher,
        person: Person,
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
        """The result, which was shown. Raises: MagicError where it cannot run, was stopped or failed."""
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
        """How that went, in words."""
        try:
            began = running.began()
            self._connection.close()
            if began:
                stop(self._connection, running.run_id)
        except Refused:
            pass  # it never began, or is over
        except (ConnectionGone, MagicError):
            return "The server could not be told to stop it, so it may go on there."
        finally:
            self._connection.close()
        return "stopped"

    def _show_result(self, result: SkillResult) -> None:
        mark = _MARKS.get(str(result.run["status"]), "✗")
        copy = code(result.copy)
        if result.run.get("copyPath"):
            copy = f"[{copy}]({self._connection.server.page(result.copy)})"
        self._show(f"{mark} {escaped(ended(result))} · {copy}")
        for output in result.outputs:
            bundle, metadata = as_bundle(output)
            self._publisher.publish(bundle, metadata)
        if not result.is_ok:
            raise MagicError("skill", ended(result), hint=f"The executed copy is {result.copy}.")

    def _show(self, text: str, beside: Mapping[str, Any] | None = None) -> None:
        bundle = {**(beside or {}), "text/markdown": text, "text/plain": text}
        self._publisher.publish(bundle, {}, transient={"display_id": self._display_id}, update=self._is_shown)
        self._is_shown = True


def as_bundle(output: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """An nbformat output as something that can be displayed: streams and errors as text."""
    match output["output_type"]:
        case "stream":
            return {"text/plain": _joined(output["text"])}, {}
        case "error":
            return {"text/plain": "\n".join(output["traceback"]) or f"{output['ename']}: {output['evalue']}"}, {}
        case _:
            data = {kind: _joined(value) for kind, value in output["data"].items()}
            return data, dict(output.get("metadata") or {})


def _joined(value: Any) -> Any:
    """nbformat may keep a text as its lines."""
    return "".join(value) if isinstance(value, list) and all(isinstance(line, str) for line in value) else value
