"""`%onyx skill NAME key=value …`: runs a skill, shows its progress and result, and asks before a new one runs."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.arguments import closing, literal
from onyx_jupyter.magics.cell_user import CellUser
from onyx_jupyter.magics.connection import ConnectionGone, Refused, ServerConnection
from onyx_jupyter.magics.shown_data import output_data, text_data
from onyx_jupyter.magics.skill_consent import MIME_TYPE, SkillConsent
from onyx_jupyter.magics.skill_run import SkillResult, SkillRun, ended, stop
from onyx_jupyter.magics.tool_words import code, escaped
from onyx_jupyter.magics.turn_view import Publisher

_MARKS = {"ok": "✓", "stopped": "–"}
_TEXTS = ("string", "path", "choice")
_KEY = re.compile(r"([A-Za-z_]\w*)\s*=\s*")


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


def parse_call(text: str) -> tuple[str, dict[str, str]]:
    """The skill's name, and each value as it was written. Raises: MagicError (usage)."""
    name, _, rest = text.strip().partition(" ")
    if not name:
        raise MagicError("usage", "%onyx skill needs the name of a skill.", hint=_HINT)
    given: dict[str, str] = {}
    place = 0
    while (place := place + len(rest[place:]) - len(rest[place:].lstrip())) < len(rest):
        found = _KEY.match(rest, place)
        if found is None:
            raise MagicError(
                "usage", f"{rest[place:].split()[0]!r} is not a key=value argument of the skill {name}.", hint=_HINT
            )
        if found[1] in given:
            raise MagicError("usage", f"{found[1]} is given twice.")
        end = _end(rest, found.end(), found[1])
        given[found[1]] = rest[found.end() : end]
        place = end
    return name, given


def values(
    given: Mapping[str, str], fields: Sequence[Mapping[str, Any]], evaluated: Callable[[str], Any]
) -> dict[str, Any]:
    """Each value by its field's type: a text unchanged, else JSON or a Python literal; `{name}` is a variable.

    `evaluated` returns a variable's value. Raises: MagicError (variable).
    """
    types = {field["name"]: field["type"] for field in fields}
    return {name: _value(text, types.get(name, "any"), evaluated) for name, text in given.items()}


def _value(text: str, kind: str, evaluated: Callable[[str], Any]) -> Any:
    if re.fullmatch(r"\{\s*[A-Za-z_][^:{}]*\}", text):
        return _plain(evaluated(text[1:-1].strip()))
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    if kind in _TEXTS:
        return text
    try:
        return literal({"True": "true", "False": "false", "None": "null"}.get(text, text))
    except ValueError:
        return text  # the server says what it expects there


def _plain(value: Any) -> Any:
    """The value for the wire: numpy's numbers and paths have no JSON form of their own."""
    if isinstance(value, str | bool | int | float) or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


def _end(text: str, place: int, name: str) -> int:
    first = text[place : place + 1]
    if first in ("'", '"'):
        end = text.find(first, place + 1)
        if end < 0:
            raise MagicError("usage", f"The value of {name} starts with {first} but is never closed.")
        return end + 1
    if first in ("{", "["):
        return closing(text, place, name)
    return place + len(text[place:].split(None, 1)[0]) if text[place : place + 1].strip() else place


_HINT = 'For example: %onyx skill profile-table path=data.csv columns=["a", "b"] rows={n}'
