"""Which calls lead nowhere, and which only look like it."""

import pytest

from onyx_jupyter.agent.repetition_detector import LoopDetector, without_volatile
from onyx_jupyter.messages import Attachment, ToolCall, ToolResult


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall("", name, arguments)


def look(detector: LoopDetector, name: str, output: str, **arguments: object):
    return detector.add(call(name, **arguments), ToolResult(output), is_known=True, changes=False)


def change(detector: LoopDetector, name: str, output: str = "done", ok: bool = True, **arguments: object):
    return detector.add(call(name, **arguments), ToolResult(output, ok=ok), is_known=True, changes=True)


def test_identical_consecutive_calls_are_counted_regardless_of_argument_order():
    detector = LoopDetector(30)
    detector.add(ToolCall("1", "read", {"a": 1, "b": 2}), ToolResult("x"), is_known=True, changes=False)
    found = detector.add(ToolCall("2", "read", {"b": 2, "a": 1}), ToolResult("x"), is_known=True, changes=False)
    assert (found.pattern, found.count) == ("in a row", 2)


def test_poll_with_changing_result_is_not_counted():
    detector = LoopDetector(30)
    assert [look(detector, "process", f"line {n}").count for n in range(30)] == [1] * 30


def test_poll_with_alternating_results_is_not_counted():
    detector = LoopDetector(30)
    assert [look(detector, "process", "busy" if n % 2 else "idle").count for n in range(30)] == [1] * 30


def test_changed_image_is_a_new_result():
    detector = LoopDetector(30)
    for data in ("AAAA", "BBBB"):
        result = ToolResult("plot", attachments=(Attachment("image", "image/png", data),))
        found = detector.add(call("read"), result, is_known=True, changes=False)
    assert found.count == 1


def test_alternating_calls_are_a_ping_pong():
    detector = LoopDetector(30)
    for _ in range(3):
        change(detector, "edit", text="a")
        found = change(detector, "edit", text="b")
    assert (found.pattern, found.count) == ("in turn", 3)
    assert found.other == call("edit", text="a")


def test_alternating_calls_with_changing_result_are_not_a_ping_pong():
    detector = LoopDetector(30)
    for n in range(10):
        assert look(detector, "status", f"{n} of 10").count == 1
        assert look(detector, "list", "same").count == 1


def test_poll_between_other_calls_is_counted():
    detector = LoopDetector(30)
    for n in range(4):
        look(detector, "read", f"file {n}", path=f"{n}")
        found = look(detector, "process", "still running")
    assert (found.pattern, found.count) == ("in between", 4)


def test_reading_after_each_new_change_is_no_loop_but_after_same_or_failed_change_it_is():
    fresh, same, failed = LoopDetector(30), LoopDetector(30), LoopDetector(30)
    for n in range(4):
        change(fresh, "edit", text=f"try {n}")
        change(same, "edit", text="again")
        change(failed, "edit", "not found", ok=False, text=f"try {n}")
        counts = [look(detector, "test", "1 failed").count for detector in (fresh, same, failed)]
    assert counts == [1, 4, 4]


def test_calls_older_than_the_window_are_forgotten():
    detector = LoopDetector(4)
    for n in range(3):
        found = look(detector, "process", "same")
        for other in range(2):
            look(detector, "read", f"{n} {other}", path=f"{n} {other}")
    assert found.count == 2


def test_unknown_tool_counts_whatever_the_arguments():
    detector = LoopDetector(30)
    for n in range(3):
        result = ToolResult("There is no tool called 'peak'.", ok=False)
        found = detector.add(call("peak", word=f"{n}"), result, is_known=False, changes=False)
    assert found.count == 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("at 2026-01-31T12:00:00.5Z", "at 2027-11-02T01:10:09Z"),
        ("Sat Jan 31 12:00:00 UTC 2026", "Sun Feb  1 09:30:00 UTC 2026"),
        ("10:15 up", "9:59 up"),
        ("1767225600", "1798761600"),
        ("took 0.25 s", "took 12 s"),
        ("took 1m30s", "took 2m1s"),
        ("pid 4711 runs", "pid 12 runs"),
        ("id 550e8400-e29b-41d4-a716-446655440000", "id 6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
        ("id 01ARZ3NDEKTSV4RRFFQ69G5FAV", "id 01BX5ZZKBKACTAV9WEVGEMMVRZ"),
        ("<object at 0x7f3a5c>", "<object at 0x1234ab>"),
        ("commit 3f2a9b1c", "commit 77aa0b1d"),
        ("/tmp/tmpab12cd_4/x", "/tmp/tmpzz99yy88/x"),
        ("127.0.0.1:54321", "127.0.0.1:40000"),
        ("Ran cell 3f2a [5].", "Ran cell 3f2a [6]."),
    ],
)
def test_results_that_differ_only_in_time_are_equal(one, other):
    assert without_volatile(one) == without_volatile(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 failed", "2 failed"),
        ("a.py:10:15 error", "a.py:12:20 error"),
        ("12345678 rows", "23456789 rows"),
        ("step 3 of 10", "step 4 of 10"),
        ("0.91 accuracy", "0.92 accuracy"),
        ("Decided 3", "Decided 4"),
    ],
)
def test_progress_values_are_not_normalized_away(one, other):
    assert without_volatile(one) != without_volatile(other)
