"""`%onyx` and `%%onyx`: from the words in a cell to an answer below it. `turn` does the asking itself."""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from IPython.core.magic import Magics, line_cell_magic, magics_class, needs_local_scope, no_var_expand
from jupyter_core.paths import jupyter_runtime_dir

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics import commands
from onyx_jupyter.magics.answers import AnswerFormat, code_of
from onyx_jupyter.magics.arguments import MagicCall, Options, literal, parse
from onyx_jupyter.magics.cell_user import CellUser
from onyx_jupyter.magics.connection import ConnectionGone, Refused, ServerConnection, unreachable
from onyx_jupyter.magics.interpolation import evaluated, interpolate
from onyx_jupyter.magics.kernel_facts import KernelFacts, kernel_facts
from onyx_jupyter.magics.server_address import find_server
from onyx_jupyter.magics.shown_data import text_data
from onyx_jupyter.magics.skill_command import SkillCommand
from onyx_jupyter.magics.summaries import summary
from onyx_jupyter.magics.tables import AnswerFormatError
from onyx_jupyter.magics.turn import Question, Turn
from onyx_jupyter.magics.turn_state import TurnState
from onyx_jupyter.magics.turn_view import TurnView

CODE_INSTRUCTION = "Give the code in one Python block: it becomes the next cell."
NEW = "new"


@magics_class
class OnyxMagics(Magics):
    """The magics of one kernel. Each call has a connection of its own: between cells nobody would read it."""

    shell: Any

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._sessions = KernelSessions()

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def onyx(self, line: str, cell: str | None = None, local_ns: Mapping[str, Any] | None = None) -> None:
        """Ask Onyx. `%onyx help` shows how."""
        asked = parse(line, cell)
        if asked.command == "help" or not (asked.command or asked.text):
            self._show(commands.HELP)
            return
        if asked.command:
            self._run(asked)
            return
        shape = self._shape(asked.options)
        names = {**self.shell.user_global_ns, **self.shell.user_ns, **(local_ns or {})}
        text = interpolate(asked.text, names, summary)
        facts = kernel_facts(self.shell)
        with connected(facts) as connection:
            self._ask(connection, facts, asked.options, text, shape)

    def _ask(
        self, connection: ServerConnection, facts: KernelFacts, options: Options, text: str, shape: AnswerFormat
    ) -> None:
        wishes = [text, shape.instruction, CODE_INSTRUCTION if options.code else ""]
        answered = self._turn(connection, facts, options, "\n\n".join(filter(None, wishes)))
        if options.out is not None:
            self.shell.user_ns[options.out] = self._read(connection, facts, options, shape, answered.answer)
        if options.code:
            self._insert(code_of(answered.answer))

    def _turn(self, connection: ServerConnection, facts: KernelFacts, options: Options, message: str) -> TurnState:
        key = self._session(connection, facts, options)
        try:
            return self._turn_in(key, connection, facts, options, message)
        except Refused as refused:
            if refused.reason != "not_found" or options.session not in (None, NEW) or not self._sessions.forget(key):
                raise
        key = self._session(connection, facts, options)  # the previous session was deleted meanwhile
        return self._turn_in(key, connection, facts, options, message)

    def _turn_in(
        self, key: str, connection: ServerConnection, facts: KernelFacts, options: Options, message: str
    ) -> TurnState:
        view = TurnView(self.shell.display_pub, TurnState(), key, is_live=hasattr(self.shell, "kernel"))
        question = Question(key, message, facts.as_sender, options.model, options.mode)
        return Turn(connection, question, view, CellUser(builtins.input)).run()

    def _session(self, connection: ServerConnection, facts: KernelFacts, options: Options) -> str:
        return self._sessions.key(connection, wanted=options.session, agent=options.agent, title=facts.title)

    def _read(
        self, connection: ServerConnection, facts: KernelFacts, options: Options, shape: AnswerFormat, answer: str
    ) -> Any:
        """The value; if the answer has another shape, the agent gets one correction. Raises: MagicError (shape)."""
        try:
            return shape.read(answer)
        except AnswerFormatError as error:
            again = replace(options, session=None if options.session == NEW else options.session)
            repaired = self._turn(connection, facts, again, shape.repair(error)).answer
        try:
            return shape.read(repaired)
        except AnswerFormatError as error:
            raise MagicError(
                "shape",
                f"The answer cannot be stored in {options.out}, even after a second try: {error}. "
                f"{options.out} was left unchanged.",
            ) from error

    def _shape(self, options: Options) -> AnswerFormat:
        """Raises: MagicError (usage) if the schema is invalid."""
        if options.schema is None:
            return AnswerFormat(options.out_type or "str")  # type: ignore[arg-type]  # the parser has checked it
        return AnswerFormat("json", _schema(options.schema, self.shell.user_ns))

    def _insert(self, code: str) -> None:
        if not code:
            raise MagicError("no_code", "The answer contains no code to insert as a cell.")
        self.shell.set_next_input(code)

    def _run(self, asked: MagicCall) -> None:
        facts = kernel_facts(self.shell)
        with connected(facts) as connection:
            match asked.command:
                case "sessions":
                    self._show(commands.sessions(connection, self._sessions.keys, asked.options.agent))
                case "skill":
                    person, publisher = CellUser(builtins.input), self.shell.display_pub
                    command = SkillCommand(connection, publisher, person, facts.kernel_id, self._evaluated)
                    result = command.run(asked.text, asked.options.agent)
                    if asked.options.out is not None:
                        self.shell.user_ns[asked.options.out] = result.text
                case "memory":
                    self._show(commands.memory(connection, asked.text, asked.options))

    def _evaluated(self, expression: str) -> Any:
        """A variable's value. Raises: MagicError (variable)."""
        return evaluated(expression, self.shell.user_ns)

    def _show(self, markdown: str) -> None:
        self.shell.display_pub.publish(text_data(markdown))


@contextmanager
def connected(facts: KernelFacts) -> Iterator[ServerConnection]:
    """A connection to the server of this kernel. Raises: MagicError (no_server)."""
    server = find_server(os.environ, Path(jupyter_runtime_dir()), facts.place)
    connection = ServerConnection(server)
    try:
        yield connection
    except ConnectionGone as error:
        raise unreachable(server, error) from error
    finally:
        connection.close()


def _schema(written: str, names: Mapping[str, Any]) -> Mapping[str, Any]:
    """A JSON schema: written out, or a variable that holds one (a dict, its JSON, or a pydantic model)."""
    import fastjsonschema

    try:
        value = names[written] if written in names else literal(written)
        if hasattr(value, "model_json_schema"):
            value = value.model_json_schema()
        value = literal(value) if isinstance(value, str) else value
        if not isinstance(value, Mapping):
            raise ValueError(f"it is a {type(value).__name__}")
        fastjsonschema.compile(dict(value))
    except (ValueError, fastjsonschema.JsonSchemaDefinitionException) as error:
        raise MagicError(
            "usage",
            f"--schema {written} is not a JSON schema: {error}.",
            hint='Name a variable that contains one, or write it out: --schema {"type": "object"}.',
        ) from error
    return value


class KernelSessions:
    """`--session new` begins another one, which the kernel then keeps; a key applies only to that question."""

    def __init__(self) -> None:
        self._keys: dict[tuple[str, str | None], str] = {}

    def key(self, connection: ServerConnection, *, wanted: str | None, agent: str | None, title: str) -> str:
        """Raises: Refused (no such agent), ConnectionGone."""
        if wanted not in (None, NEW):
            return str(wanted)
        place = (connection.server.url, agent)
        if wanted == NEW or place not in self._keys:
            asked: dict[str, Any] = {} if agent is None else {"agentId": agent}
            self._keys[place] = connection.request("sessions.create", title=title[:200], **asked)["sessionKey"]
        return self._keys[place]

    def forget(self, key: str) -> bool:
        """Whether it was one of these; call it if the session no longer exists on the server."""
        places = [place for place, known in self._keys.items() if known == key]
        for place in places:
            del self._keys[place]
        return bool(places)

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(self._keys.values())
