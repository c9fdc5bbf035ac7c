"""Loops end and productive work continues, over any history of calls."""

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.agent.repetition_detector import LoopDetector
from onyx_jupyter.messages import ToolCall, ToolResult

WINDOW, STOP_AT = 30, 6
OUTPUT = st.text(alphabet="abc :\n", max_size=12)
TIME = st.builds(
    "2026-{:02}-{:02}T{:02}:{:02}:00Z".format,
    st.integers(1, 12),
    st.integers(1, 28),
    st.integers(0, 23),
    st.integers(0, 59),
)
NOISE = (
    TIME | st.integers(1, 99999).map("pid {}".format) | st.integers(0, 999).map("{} ms".format) | st.uuids().map(str)
)
ARGUMENTS = st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=2)
CHANGES = st.booleans()


def counts(steps) -> list[int]:
    detector = LoopDetector(WINDOW)
    return [
        detector.add(ToolCall("", name, arguments), ToolResult(output), is_known=True, changes=changes).count
        for name, arguments, output, changes in steps
    ]


@given(ARGUMENTS, OUTPUT, CHANGES, st.lists(NOISE, min_size=STOP_AT, max_size=20), st.lists(OUTPUT, max_size=10))
def test_repeating_call_always_stops(arguments, output, changes, noise, before):
    history = [("before", {}, text, changes) for text in before]
    history += [("same", arguments, f"{output} {moment}", changes) for moment in noise]
    assert max(counts(history)) >= STOP_AT


@given(ARGUMENTS, ARGUMENTS, st.tuples(OUTPUT, OUTPUT), CHANGES, CHANGES, st.lists(NOISE, min_size=12, max_size=24))
def test_calls_undoing_each_other_always_stop(one, two, outputs, first, second, noise):
    calls = [("one", one, outputs[0], first), ("two", two, outputs[1], second)]
    turns = [(*calls[n % 2][:2], f"{calls[n % 2][2]} {moment}", calls[n % 2][3]) for n, moment in enumerate(noise)]
    assert max(counts(turns)) >= STOP_AT


@given(ARGUMENTS, OUTPUT, st.lists(st.integers(0, 4), min_size=STOP_AT, max_size=12), st.lists(NOISE, min_size=12))
def test_poll_without_change_always_stops_despite_other_reads(arguments, output, gaps, noise):
    history, place = [], 0
    for gap, moment in zip(gaps, noise, strict=False):
        history.append(("poll", arguments, f"{output} {moment}", False))
        for _ in range(gap):
            place += 1
            history.append(("read", {"path": place}, output, False))
    assert max(counts(history)) >= STOP_AT


@given(st.lists(st.tuples(st.sampled_from("abc"), OUTPUT, CHANGES), max_size=60))
def test_calls_with_new_results_never_stop(steps):
    history = [(name, {}, f"{output} step {n}", changes) for n, (name, output, changes) in enumerate(steps)]
    assert set(counts(history)) <= {1}


@given(st.lists(st.tuples(st.lists(st.sampled_from("abc"), max_size=4, unique=True), OUTPUT), max_size=25))
def test_reading_after_each_new_change_never_stops(rounds):
    history = []
    for n, (looks, output) in enumerate(rounds):
        history.append(("edit", {"text": n}, "done", True))
        history += [(name, {}, output, False) for name in looks]
    assert set(counts(history)) <= {1}


@given(st.lists(st.integers(0, 10**6), unique=True, max_size=60), OUTPUT, CHANGES)
def test_different_calls_never_stop_however_similar_results(places, output, changes):
    assert set(counts([("read", {"path": place}, output, changes) for place in places])) <= {1}
