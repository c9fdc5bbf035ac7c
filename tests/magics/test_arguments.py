"""What stands behind `%onyx`, read into options and a question."""

import pytest

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.arguments import MagicCall, Options, literal, parse


def asked(text: str = "", command: str = "", **options: object) -> MagicCall:
    return MagicCall(Options(**options), command, text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("why is --this so?", asked("why is --this so?")),
        ("--out x --code why?", asked("why?", out="x", code=True)),
        ("--out=x --model a/b  why", asked("why", out="x", model="a/b")),
        ("--session new --agent writer --mode ask go", asked("go", session="new", agent="writer", mode="ask")),
        ("--session 'a b' go", asked("go", session="a b")),
        ('--out x --schema {"a": {"b": "}"}} go', asked("go", out="x", schema='{"a": {"b": "}"}}')),
        ("--out x --schema schema go", asked("go", out="x", schema="schema")),
        ("-- memory of what?", asked("memory of what?")),
        ("-- --out is no option here", asked("--out is no option here")),
        ("help", asked(command="help")),
        ("help me", asked("help me")),
        ("sessions", asked(command="sessions")),
        ("sessions of what?", asked("sessions of what?")),
        ("memory fiscal year", asked("fiscal year", "memory")),
        ("--agent writer memory x", asked("x", "memory", agent="writer")),
        ("memory --since 2026-03-01 fiscal year", asked("fiscal year", "memory", since="2026-03-01")),
        (
            "--since 2026-03-01 memory --until=2026-03-31 x",
            asked("x", "memory", since="2026-03-01", until="2026-03-31"),
        ),
        ("memory -- --since when", asked("--since when", "memory")),
        ("skill --out r profile", asked("profile", "skill", out="r")),
        ("skill profile path=a.csv", asked("profile path=a.csv", "skill")),
        ("--agent writer --out r skill profile", asked("profile", "skill", agent="writer", out="r")),
        ("--agent writer sessions", asked(command="sessions", agent="writer")),
        ("--mode ask -- skill or luck?", asked("skill or luck?", mode="ask")),
        ("--mode ask help me", asked("help me", mode="ask")),
        ("", asked()),
    ],
)
def test_line_is_parsed(line: str, expected: MagicCall) -> None:
    assert parse(line) == expected


def test_cell_is_the_question_and_may_start_on_first_line() -> None:
    assert parse("--out x Look:", "\na\nb\n") == asked("Look:\n\na\nb", out="x")
    assert parse("", "help") == asked("help")
    assert parse("--mode agent", "why?") == asked("why?", mode="agent")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--sesion x", "There is no option --sesion. Did you mean --session?"),
        ("--zzz x", "Options: --agent, --session"),
        ("--out", "--out needs a value"),
        ("--out --code x", "--out needs a value"),
        ("--out x --out y q", "--out is given twice"),
        ("--out 1x q", "not a valid variable name"),
        ("--out class q", "not a valid variable name"),
        ("memory --since yesterday x", "--since yesterday: not a valid date. Use the form 2026-03-14."),
        ("memory --until 20260314 x", "--until 20260314: not a valid date"),
        ("--since 2026-03-01 what was said?", "--since is for %onyx memory"),
        ("--agent a memory --agent b x", "--agent is given twice"),
        ("memory --mode ask x", "%onyx memory takes --agent and --since and --until"),
        ("--mode fast q", "ask, agent, auto"),
        ("--out x --out-type table q", "str, json, frame"),
        ("--schema s q", "needs --out"),
        ("--out-type frame q", "needs --out"),
        ("--out x --out-type frame --schema s q", "cannot be combined with"),
        ('--out x --schema {"a": 1 q', "is never closed"),
        ("--session 'a q", "is never closed"),
    ],
)
def test_invalid_combinations_are_reported(line: str, words: str) -> None:
    with pytest.raises(MagicError) as caught:
        parse(line)
    assert words in str(caught.value)
    assert caught.value.code == "usage"


@pytest.mark.parametrize("command", ["sessions", "memory x", "skill x", "help"])
@pytest.mark.parametrize("option", ["--out r", "--code", "--mode ask", "--model a/b", "--session new", "--agent a"])
def test_options_are_accepted_or_rejected_and_never_ignored(command: str, option: str) -> None:
    word, name = command.partition(" ")[0], option.partition(" ")[0]
    taken = {"sessions": ["--agent"], "memory": ["--agent"], "skill": ["--agent", "--out"], "help": []}[word]
    if name in taken:
        assert parse(f"{option} {command}").command == word
        return
    with pytest.raises(MagicError, match=f"%onyx {word} takes .*{name} would have no effect") as caught:
        parse(f"{option} {command}")
    assert f"-- {word}" in str(caught.value.hint)


def test_schema_may_be_json_or_python() -> None:
    assert literal('{"a": true}') == literal("{'a': True}") == {"a": True}
    with pytest.raises(ValueError, match="neither JSON nor"):
        literal("open('x')")
