"""What is kept of a conversation between two looks at it is what would be made of it anew, whatever came in between."""

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.messages import ToolCall
from onyx_jupyter.sessions.conversation import blocks
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.sessions.kept_runs import KeptRuns
from onyx_jupyter.sessions.run_order import begun_runs

RUNS = st.sampled_from(["r1", "r2", "r3"])
IDS = st.sampled_from([f"e{number}" for number in range(12)])


def made(role, content="", calls=(), call_id=None, **meta):
    return lambda number: Entry(f"e{number}", None, "", role, content, calls, call_id, meta=meta)


asked = st.builds(lambda run, how: made("user", "Please", runId=run, **how), RUNS, st.sampled_from(
    [{}, {"steer": True}, {"queued": True}]
))  # fmt: skip
said = st.builds(lambda run, call: made("assistant", "So", (ToolCall(call, "peek", {}),), runId=run), RUNS, IDS)
result = st.builds(lambda run, call: made("tool", "seen " * 9, call_id=call, runId=run), RUNS, IDS)
joined = st.builds(lambda run, ids: made("system", runId=run, kind="steer_joined", messageIds=ids), RUNS, st.lists(IDS))
started = st.builds(lambda run: made("system", runId=run, kind="run_start"), RUNS)
moved = st.builds(lambda run, back: lambda number: made(  # a line that moves another comes after it
    "system", runId=run, kind="requeued", messageId=f"e{max(number - back, 0)}"
)(number), RUNS, st.integers(1, 9))  # fmt: skip
summed_up = st.builds(
    lambda run, first, longest: made(
        "system", "All of it.", runId=run, kind="compaction", firstKept=first, longestChars=longest
    ),
    RUNS, IDS, st.sampled_from([None, 10]),
)  # fmt: skip
LINES = st.lists(
    st.tuples(
        st.one_of(asked, said, result, joined, started, moved, summed_up), st.sampled_from(["add", "add", "anew"])
    ),
    max_size=25,
)


@given(lines=LINES)
def test_cached_runs_equal_recomputed_ones(lines):
    entries: list[Entry] = []
    kept = KeptRuns()
    for number, (make, how) in enumerate(lines):
        entries = [*entries] if how == "anew" else entries
        entries.append(make(number))
        assert kept.begun(entries) == begun_runs(entries)
        for run in ("r1", "r2", "r3"):
            assert blocks(entries, run, kept=kept) == blocks(entries, run)
        assert kept.call_ids(entries) == {call.id for entry in entries for call in entry.tool_calls}


def test_finished_run_is_cached_until_file_is_reread():
    entries = [made("user", "1", runId="r1")(1), made("assistant", "One", runId="r1")(2)]
    entries.append(made("user", "2", runId="r2")(3))
    kept = KeptRuns()
    first = blocks(entries, "r2", kept=kept)[0].messages[0]
    entries.append(made("assistant", "Two", runId="r2")(4))
    assert blocks(entries, "r2", kept=kept)[0].messages[0] is first
    repaired = entries[1:]
    assert [block.entry_id for block in blocks(repaired, "r2", kept=kept)] == ["e2", "e3", "e4"]
