"""A form for a skill, in any front end with widgets: fields from its schema, run, stop, progress, result.

It runs in a thread, so that the kernel stays free for the stop button and for other cells.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_runtime_dir

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.arguments import literal
from onyx_jupyter.magics.connection import ConnectionGone, ServerConnection, unreachable
from onyx_jupyter.magics.kernel_facts import KernelFacts
from onyx_jupyter.magics.server_address import find_server
from onyx_jupyter.magics.shown_data import shown_outputs
from onyx_jupyter.magics.skill_run import SkillResult, SkillRun, ended, stop
from onyx_jupyter.magics.widget_library import note, widgets

_TEXTS = ("string", "path")
_LEFT_OUT = object()


class SkillForm:
    """`widget` is what is displayed; `wait` returns when nothing is running."""

    def __init__(self, name: str, facts: KernelFacts, agent: str | None = None) -> None:
        """Raises: MagicError (no_server, ipywidgets, refused, no_notebook)."""
        library = widgets()
        self._name, self._facts, self._agent = name, facts, agent
        self._server = find_server(os.environ, Path(jupyter_runtime_dir()), facts.place)
        self._thread: threading.Thread | None = None
        self._running: SkillRun | None = None
        self._stopping = threading.Event()
        self.run_button = library.Button(description="Run", button_style="primary")
        self.stop_button = library.Button(description="Stop", disabled=True)
        self.trust_button = library.Button(description="Trust this version")
        self.progress = library.FloatProgress(min=0, max=1, layout=library.Layout(width="160px", visibility="hidden"))
        self.status = library.HTML()
        self.output = library.Output()
        self.run_button.on_click(lambda _: self.run())
        self.stop_button.on_click(lambda _: self.stop())
        self.trust_button.on_click(lambda _: self._trust())
        self._title, self._source = library.HTML(), library.HTML()
        self._bar = library.HBox([self.run_button, self.stop_button, self.progress])
        self.widget = library.VBox()
        self.fields: dict[str, FormField] = {}
        self._described: Sequence[Mapping[str, Any]] = ()
        self._describe()

    def run(self) -> None:
        """Starts a run; does nothing while one is in progress."""
        if self._thread is not None and self._thread.is_alive():
            return
        try:
            given = {name: value for field in self.fields.values() for name, value in field.value().items()}
        except FieldProblem as problem:
            self.status.value = note(str(problem), is_problem=True)
            return
        self.output.outputs = ()
        self._stopping.clear()
        self._set_running(True)
        self._thread = threading.Thread(target=self._work, args=(given,), name=f"onyx skill {self._name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stops the current run, even if it has no id yet; the form shows when it has ended."""
        self._stopping.set()
        self.stop_button.disabled = True
        running = self._running
        if running is not None and running.run_id:
            self._stop(running.run_id)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Whether nothing is running any more."""
        if self._thread is not None:
            self._thread.join(timeout_s)
        return self._thread is None or not self._thread.is_alive()

    def _work(self, given: Mapping[str, Any]) -> None:
        connection = ServerConnection(self._server)
        try:
            self._running = SkillRun(connection, self._name, self._agent)
            path = connection.request("client.shows", kernelId=self._facts.kernel_id).get("path")
            if self._stopping.is_set():
                self.status.value = note("Stopped before it started.")
                return
            self._show_result(self._running.run(given, path, self._show_progress, self._begun))
        except ConnectionGone as error:
            self.status.value = note(str(unreachable(self._server, error)), is_problem=True)
        except MagicError as error:
            self.status.value = note(str(error), is_problem=True)
        finally:
            connection.close()
            self._running = None
            self._set_running(False)

    def _begun(self, run_id: str) -> None:
        """Stop may have been pressed before the id was known."""
        if self._stopping.is_set():
            self._stop(run_id)

    def _stop(self, run_id: str) -> None:
        try:
            self._ask(lambda connection: stop(connection, run_id))
        except MagicError as error:  # it may still be running, so it can be stopped again
            self.status.value = note(str(error), is_problem=True)
            self.stop_button.disabled = self._running is None

    def _show_progress(self, line: str, share: float) -> None:
        self.progress.value = share
        self.status.value = note(line)

    def _show_result(self, result: SkillResult) -> None:
        address = self._server.page(result.copy)
        link_attributes = 'target="_blank" style="text-decoration: underline"'
        link = f'<a href="{html.escape(address)}" {link_attributes}>{html.escape(result.copy)}</a>'
        copy = link if result.run.get("copyPath") else html.escape(result.copy)
        self.status.value = f"{note(ended(result), is_problem=not result.is_ok)} · {copy}"
        self.output.outputs = tuple(shown_outputs(result.outputs))

    def _trust(self) -> None:
        digest = self._skill["hash"]
        try:
            self._ask(lambda connection: SkillRun(connection, self._name, self._agent).trust(digest))
        except MagicError as error:
            self._show_current(error)
        else:
            self._show_state("ready", None)

    def _show_current(self, refusal: MagicError) -> None:
        """A refusal mostly means that the version is outdated: the next yes has to be for the text that is shown."""
        with contextlib.suppress(MagicError):
            self._describe()
        self.status.value = note(str(refusal), is_problem=True)

    def _describe(self) -> None:
        """Shows the skill as it is on disk. Raises: MagicError."""
        shown = self._ask(lambda connection: SkillRun(connection, self._name, self._agent).describe())
        self._skill: Mapping[str, Any] = shown["skill"]
        described = (self._skill.get("parameters") or {}).get("fields", ())
        if described != self._described:  # otherwise the entered values stay
            self._described = described
            self.fields = {field["name"]: form_field(field) for field in described}
        self._title.value = f"<b>{html.escape(self._name)}</b> {note(self._skill['description'])}"
        self._source.value = _source(shown)
        rows = [field.row for field in self.fields.values()]
        above, below = [self._title, self._source, self.trust_button], [self._bar, self.status, self.output]
        self.widget.children = [*above, *rows, *below]
        self._show_state(self._skill["state"], self._skill.get("reason"))

    def _show_state(self, state: str, reason: str | None) -> None:
        is_untrusted = state == "untrusted"
        for widget in (self.trust_button, self._source):
            widget.layout.display = None if is_untrusted else "none"
        self.run_button.disabled = state != "ready"
        self.status.value = note(reason or "", is_problem=True)

    def _set_running(self, running: bool) -> None:
        self.run_button.disabled, self.stop_button.disabled = running, not running
        self.progress.value = 0
        self.progress.layout.visibility = "visible" if running else "hidden"

    def _ask(self, request: Any) -> Any:
        connection = ServerConnection(self._server)
        try:
            return request(connection)
        except ConnectionGone as error:
            raise unreachable(self._server, error) from error
        finally:
            connection.close()


def _source(shown: Mapping[str, Any]) -> str:
    """The text to be trusted: the change since the last time, or all of it."""
    text = html.escape(shown.get("diff") or shown["text"])
    return f'<pre style="max-height: 320px; overflow: auto">{text}</pre>'


class FieldProblem(Exception):
    """An invalid value; the message names the field."""


@dataclass(frozen=True)
class FormField:
    """`widget` is for the input, `words` is the skill's description of it; the value may be the skill's own default."""

    name: str
    widget: Any
    words: str
    _read: Callable[[], Any]

    @property
    def row(self) -> Any:
        """The widget with its description next to it."""
        library = widgets()
        return library.HBox([self.widget, library.HTML(note(self.words))])

    def value(self) -> dict[str, Any]:
        """`{name: value}`, or `{}`. Raises: FieldProblem."""
        value = self._read()
        return {} if value is _LEFT_OUT else {self.name: value}


def form_field(field: Mapping[str, Any]) -> FormField:
    """The widget for the field's type: a checkbox, a list of choices, or a line of text."""
    library = widgets()
    name, kind, words = field["name"], field["type"], field["description"]
    layout = {
        "description": name,
        "tooltip": words or name,
        "style": {"description_width": "110px"},
        "layout": library.Layout(width="420px"),
    }
    plain = not field["nullable"] and field["hasDefault"]
    if kind == "boolean" and plain and isinstance(field["default"], bool):
        tick = library.Checkbox(value=field["default"], **layout)
        return FormField(name, tick, words, lambda: tick.value)
    if kind == "choice" and field["choices"] and not field["nullable"]:
        first = field["default"] if field["default"] in field["choices"] else field["choices"][0]
        menu = library.Dropdown(options=field["choices"], value=first, **layout)
        return FormField(name, menu, words, lambda: menu.value)
    begins = _as_text(field)
    hint = "required" if field["required"] else ""
    line = library.Text(value=begins, placeholder=hint, continuous_update=False, **layout)
    return FormField(name, line, words, lambda: _from_text(line.value, begins, field))


def _as_text(field: Mapping[str, Any]) -> str:
    default = field["default"]
    if not field["hasDefault"] or default is None:
        return ""
    return default if isinstance(default, str) and field["type"] in _TEXTS else json.dumps(default, ensure_ascii=False)


def _from_text(text: str, begins: str, field: Mapping[str, Any]) -> Any:
    if text == begins and not field["required"]:
        return _LEFT_OUT
    if not text and field["required"]:
        raise FieldProblem(f"{field['name']} is required.")
    if not text and field["nullable"]:
        return None
    if field["type"] in _TEXTS:
        return text
    try:
        return literal(text)
    except ValueError as error:
        if field["type"] in ("integer", "number", "array", "object"):
            raise FieldProblem(f"{field['name']}: {text!r} is not a valid {field['type']}.") from error
        return text
