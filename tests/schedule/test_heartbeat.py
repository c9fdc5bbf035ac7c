"""What of HEARTBEAT.md there is to do, the hours in which beats happen, and their log."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from onyx_jupyter.agent.control_tokens import says_nothing, scheduled_prefix
from onyx_jupyter.schedule.heartbeat import MAX_LOG_BYTES, HeartbeatLog, is_active, tasks_in


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "# Tasks\n", "# Tasks\n\n## Mail\n<!-- one\nline a task -->\n", "<!-- never closed\n- Do it", "#"],
)
def test_headings_and_comments_are_nothing_to_do(text: str) -> None:
    assert tasks_in(text) is None


@pytest.mark.parametrize("text", ["- Check the mail", "# Tasks\nCheck", "<!-- a -->\n* b", "#hashtag is a task"])
def test_anything_else_is(text: str) -> None:
    assert tasks_in(text)


def test_template_is_nothing_to_do() -> None:
    assert tasks_in(Path(__file__).parents[2].joinpath("workspace/HEARTBEAT.md").read_text()) is None


@pytest.mark.parametrize(
    ("hour", "start", "end", "active"),
    [
        ("08:59", "09:00", "17:00", False),
        ("09:00", "09:00", "17:00", True),
        ("16:59", "09:00", "17:00", True),
        ("17:00", "09:00", "17:00", False),
        ("23:00", "22:00", "06:00", True),
        ("05:59", "22:00", "06:00", True),
        ("06:00", "22:00", "06:00", False),
        ("23:59", "09:00", "24:00", True),
        ("08:00", "09:00", "24:00", False),
        ("03:00", "00:00", "24:00", True),
    ],
)
def test_active_hours_include_their_start_and_not_their_end(hour: str, start: str, end: str, active: bool) -> None:
    now = datetime.fromisoformat(f"2026-07-01T{hour}:30+02:00").astimezone(UTC)
    assert is_active(now, start, end, "Europe/Vienna") is active


@pytest.mark.parametrize(
    ("answer", "nothing"),
    [
        ("HEARTBEAT_OK", True),
        ("  HEARTBEAT_OK\n", True),
        ("HEARTBEAT_OK. All quiet.", True),
        ("All quiet. HEARTBEAT_OK", True),
        ("HEARTBEAT_OK" + "x" * 300, True),
        ("HEARTBEAT_OK" + "x" * 301, False),
        ("I would say HEARTBEAT_OK, but the disk is full.", False),
        ("The disk is full.", False),
        ("", False),
    ],
)
def test_token_at_start_or_end_with_little_around_it_says_nothing(answer: str, nothing: bool) -> None:
    assert says_nothing(answer) is nothing


def test_name_of_a_job_cannot_end_the_prefix() -> None:
    assert scheduled_prefix("a] b\n[c", "now") == "[SCHEDULED TASK - a) b [c, due now]"


def test_full_log_is_kept_once(tmp_path: Path) -> None:
    log = HeartbeatLog(tmp_path / "schedule" / "heartbeat.jsonl")
    assert log.newest(5) == []
    log.append({"n": 1, "text": "x" * MAX_LOG_BYTES})
    log.append({"n": 2})
    assert [line["n"] for line in log.newest(5)] == [2]
    assert (tmp_path / "schedule" / "heartbeat.1.jsonl").exists()
