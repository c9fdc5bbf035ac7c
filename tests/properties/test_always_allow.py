"""A shell command needs no approval only if each simple command was granted verbatim in that folder."""

import asyncio
import shlex
import subprocess
import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from onyx_jupyter.clock import IdSource
from onyx_jupyter.human_requests.approval_policy import Policy
from onyx_jupyter.human_requests.approval_scope import scope_of
from onyx_jupyter.human_requests.grants import GrantStore
from onyx_jupyter.human_requests.shell_command import InexactCommand, split
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import ExactScope, ToolPreview
from onyx_jupyter.testing.fake_clock import FakeClock

PROGRAMS = st.sampled_from(["git", "ls", "cat", "grep", "pytest", "make", "./run", "/bin/echo"])
WORDS = st.text(st.sampled_from("ab-/.= '\"\\$`;|&<>*?[]{}()!#~\néЖ"), max_size=6) | st.sampled_from(["-l", "a b", ""])
ARGVS = st.tuples(PROGRAMS, st.lists(WORDS, max_size=3)).map(lambda parts: (parts[0], *parts[1]))
FOLDERS = st.sampled_from(["/data", "/data/a"])
QUOTES = st.sampled_from(["shlex", "single", "double", "escaped"])
OPERATORS = st.sampled_from([" && ", " || ", "; ", " | ", ";", "|"])


def quoted(word: str, how: str) -> str:
    """The word in one of the ways in which a shell can be given it; where that way cannot say it, as shlex does."""
    if how == "double" and word and not set(word) & set('"\\$`!'):
        return f'"{word}"'
    if how == "escaped" and word and word.isascii() and "\n" not in word:
        return "".join(f"\\{character}" if not character.isalnum() else character for character in word)
    if how == "single" and "'" not in word:
        return f"'{word}'"
    return shlex.quote(word)


COMMANDS = st.lists(st.tuples(ARGVS, QUOTES, OPERATORS), min_size=1, max_size=4)


def written(parts) -> str:
    line = ""
    for argv, how, operator in parts:
        line += " ".join([argv[0], *(quoted(word, how) for word in argv[1:])]) + operator
    return line[: -len(parts[-1][2])]


def asked(command: str, cwd: str) -> tuple[ToolCall, ToolPreview]:
    exactly = ExactScope({"cwd": cwd}, without=("command", "cwd", "timeoutMs"), shell=command)
    call = ToolCall("c", "exec", {"command": command})
    return call, ToolPreview("Run", {"command": command}, "", "", exactly)


async def decisions(granted: list[tuple[str, str]], command: str, cwd: str) -> str:
    """What the policy says of `command` after these were allowed always."""
    with tempfile.TemporaryDirectory() as folder:
        clock = FakeClock()
        store = GrantStore(Path(folder) / "grants.json", clock, IdSource(clock), redact=str, on_change=lambda: None)
        for other, folder_of_it in granted:
            scope = scope_of(*asked(other, folder_of_it))
            await store.add([store.new("main", "exec", item.what, item.digest, "ada") for item in scope.items])
        call, preview = asked(command, cwd)
        verdict = await Policy(store).decide("main", call, preview, scope_of(call, preview), ())
        return verdict.decision


@given(granted=st.lists(st.tuples(ARGVS, FOLDERS), max_size=4), parts=COMMANDS, cwd=FOLDERS, pick=st.booleans())
@example(granted=[(("git", "a b"), "/work")], parts=[(("git", "a", "b"), "shlex", "; ")], cwd="/work", pick=False)
def test_command_runs_without_approval_only_if_each_argv_was_granted_there(granted, parts, cwd, pick):
    """Always means exactly: any word, quoting or folder that differs is asked."""
    if pick and granted:  # else a generated command would hardly ever be a granted one
        argvs = [argv for argv, _ in granted]
        parts = [(argvs[index % len(argvs)], how, operator) for index, (_, how, operator) in enumerate(parts)]
    given_always = [(shlex.join(argv), folder) for argv, folder in granted]
    decision = asyncio.run(decisions(given_always, written(parts), cwd))
    covered = all((argv, cwd) in granted for argv, _, _ in parts)
    assert decision in (("allow", "ask") if covered else ("ask",))
    plain = all(word.isalnum() or word in ("-l", "") for argv, _, _ in parts for word in argv[1:])
    if covered and plain:
        assert decision == "allow"


@given(parts=COMMANDS)
def test_command_is_parsed_into_its_words_or_rejected(parts):
    """Always means exactly: no way of quoting makes another argv of it."""
    try:
        read = [segment.argv for segment in split(written(parts))]
    except InexactCommand:
        return
    assert read == [argv for argv, _, _ in parts]


RAW = st.lists(
    st.sampled_from(
        ["show", " ", "  ", "\t", ";", "&&", "a", "b", "-", "=", "'", '"', "\\", "\n", "'b c'", '"b c"', "é", "1", ","]
    ),
    max_size=14,
).map("".join)
SHOW = 'show() { printf \'%s\\0\' "$#" "$@"; }\n'


@given(rest=RAW)
def test_bash_parses_the_same_words(rest):
    """Always means exactly: what is bound is what runs, by the shell's own word."""
    line = f"show {rest}"
    try:
        argvs = [segment.argv for segment in split(line)]
    except InexactCommand:
        return
    if {argv[0] for argv in argvs} != {"show"}:
        return
    ran = subprocess.run(["bash", "-c", SHOW + line], capture_output=True, timeout=30, check=True)
    words = [word for argv in argvs for word in (str(len(argv) - 1), *argv[1:])]
    assert ran.stdout.decode().split("\0")[:-1] == words


INJECTIONS = (
    "$(id)",
    "`id`",
    "; id",
    " && id",
    " | sh",
    " & id",
    "\nid",
    " > /tmp/x",
    " < /etc/passwd",
    " $HOME",
    " *",
    " ~",
    " {a,b}",
    " <(id)",
    " 2>&1",
    " # x",
    " || id",
    "\rid",
    "\0",
    " ;id",
    "|id",
    " \\\n id",
    " $'\\x41'",
    ' "$(id)"',
    " ${IFS}id",
    "&",
    " >>x",
    " !x",
    " [a]",
    " ?",
    " (id)",
    "\u2028id",
    "\u202eid",
    " <<E\nid\nE",
    "\u00a0id",
    "\uff1bid",
)


@given(argv=ARGVS, injection=st.sampled_from(INJECTIONS), where=st.integers(0, 4), cwd=FOLDERS)
def test_injection_into_granted_command_is_never_allowed(argv, injection, where, cwd):
    """Always means exactly: nothing with a meaning to the shell rides along."""
    words = [shlex.quote(word) for word in argv]
    index = min(where, len(words) - 1)
    changed = " ".join([*words[: index + 1]]) + injection + " " + " ".join(words[index + 1 :])
    assert asyncio.run(decisions([(shlex.join(argv), cwd)], changed.rstrip(" "), cwd)) == "ask"
