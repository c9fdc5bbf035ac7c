"""The benchmark's own arithmetic, and how it reads the file."""

import json
import math
from datetime import date
from pathlib import Path

import pytest

from benchmarks.memory.locomo import VARIABLE, main, measure, ndcg, recall
from benchmarks.memory.locomo_file import read_conversations

EVIDENCE = frozenset({("session_1", 1), ("session_2", 4)})


def test_recall_is_the_share_of_the_evidence_that_was_found() -> None:
    assert recall([("session_1", 1), ("session_1", 2)], EVIDENCE) == 0.5
    assert recall([], EVIDENCE) == 0


def test_an_earlier_hit_gains_more() -> None:
    best = 1 + 1 / math.log2(3)
    assert ndcg([("session_2", 4), ("x", 1), ("session_1", 1)], EVIDENCE) == pytest.approx((1 + 1 / 2) / best)
    assert ndcg([("x", 1), ("session_1", 1), ("session_1", 1)], EVIDENCE) == pytest.approx((1 / math.log2(3)) / best)
    assert ndcg([("x", 1)], EVIDENCE) == 0


def test_a_file_is_read_into_sessions_with_their_days_and_questions_with_their_places(tmp_path: Path) -> None:
    said = [{"dia_id": "D1:1", "speaker": "A", "text": "Look!", "blip_caption": "a cat"}]
    conversation = {"session_10": [], "session_10_date_time": "9:05 am on 3 June, 2023", "session_2": said}
    conversation |= {"session_2_date_time": "1:56 pm on 8 May, 2023", "speaker_a": "A"}
    questions = [
        {"question": "What?", "evidence": ["D1:1", "D9:9"], "category": 4},
        {"question": "Nothing?", "evidence": [], "category": 5},
    ]
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([{"sample_id": "c1", "conversation": conversation, "qa": questions}]))
    (read,) = read_conversations(file)
    assert [(one.name, one.day) for one in read.sessions] == [
        ("session_2", date(2023, 5, 8)),
        ("session_10", date(2023, 6, 3)),
    ]
    assert read.sessions[0].turns[0].text == "Look! [picture: a cat]"
    (question,) = read.questions
    assert (question.category, question.evidence) == ("single-hop", frozenset({("session_2", 1)}))


def test_without_a_file_it_says_that_nothing_was_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    group = measure()
    assert list(group.figures) == []
    assert "Not measured" in group.notes[0]
    assert main([]) == 0
    assert "Not measured" in capsys.readouterr().out
