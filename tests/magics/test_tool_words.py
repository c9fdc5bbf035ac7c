"""A call as one line in a cell's answer: what it does, or did, and why it did not, from what the server says of it."""

import pytest

from onyx_jupyter.magics.tool_words import describe_call
from onyx_jupyter.magics.turn_state import Step, TurnState

EDIT = {"action": "edit_and_run_cell", "object": "a.ipynb", "objectKind": "path"}
RUN = {"action": "run_command", "object": "ls `x`", "objectKind": "code"}


def step(*events):
    state = TurnState("r")
    for event, data in events:
        assert state.apply(event, {"runId": "r", "callId": "c", "tool": "exec", **data})
    (part,) = state.parts
    assert isinstance(part, Step)
    return part


def finished(status, failure=None, **more):
    told = {"failure": failure} if failure else {}
    return "tool.finished", {"ok": status == "ok", "output": "nothing to read", "status": status, **told, **more}


def started(activity=RUN):
    return "tool.started", {"input": {"command": "ls"}, **({"activity": activity} if activity else {})}


def test_call_reads_as_running_until_it_ends():
    assert step(started()).line == "… Run `` ls `x` ``"
    assert step(started(), finished("ok")).line == "✓ Ran `` ls `x` ``"
    assert step(started(EDIT), finished("ok", label={**EDIT, "object": "b.ipynb"})).words.object == "b.ipynb"


@pytest.mark.parametrize(
    ("kind", "verb"),
    [
        ("unavailable", "Edit and run a cell of"),
        ("invalid", "Edit and run a cell of"),
        ("failed", "Edited and ran a cell of"),
        ("timed_out", "Edited and ran a cell of"),
    ],
)
def test_failed_call_does_not_read_as_done_and_says_why(kind, verb):
    part = step(started(EDIT), finished("failed", {"kind": kind, "reason": "It [waits]."}))
    assert part.words.verb == verb
    assert part.line.endswith(r" · It \[waits\].")


def test_denied_call_shows_reason():
    asked = "exec.approval_request", {"approvalId": "a", "toolName": "exec", "details": {}, "activity": RUN}
    assert step(asked).line == "◆ Run `` ls `x` ``"
    part = step(asked, finished("denied", {"kind": "denied", "reason": "Denied: Not here"}, input={}))
    assert part.line == "⊘ Run `` ls `x` `` · Denied: Not here"


def test_tool_without_label_is_shown_by_name():
    assert step(started(None), finished("ok")).line == "✓ Exec ls"
    words = describe_call("acme_look_up", {"action": "of_a_later_version"}, {"limit": 3, "query": "x\ny"}, is_over=True)
    assert (words.verb, words.object, words.is_code) == ("Acme look up", "x", False)
