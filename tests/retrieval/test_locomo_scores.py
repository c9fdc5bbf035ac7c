"""The benchmark's arithmetic, and how it parses its file."""

import json
import math
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest

from benchmarks.memory.locomo import (
    METHODS,
    OURS,
    TOTAL,
    VARIABLE,
    WEIGHTS,
    Parts,
    Results,
    as_table,
    main,
    measure,
    ndcg,
    recall,
    weights_table,
)
from benchmarks.memory.locomo_file import Question, read_conversations

EVIDENCE = frozenset({("session_1", 1), ("session_2", 4)})


def test_recall_is_share_of_found_evidence() -> None:
    assert recall([("session_1", 1), ("session_1", 2)], EVIDENCE) == 0.5
    assert recall([], EVIDENCE) == 0


def test_earlier_hit_scores_more() -> None:
    best = 1 + 1 / math.log2(3)
    assert ndcg([("session_2", 4), ("x", 1), ("session_1", 1)], EVIDENCE) == pytest.approx((1 + 1 / 2) / best)
    assert ndcg([("x", 1), ("session_1", 1), ("session_1", 1)], EVIDENCE) == pytest.approx((1 / math.log2(3)) / best)
    assert ndcg([("x", 1)], EVIDENCE) == 0


def test_file_is_parsed_into_dated_sessions_and_questions(tmp_path: Path) -> None:
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


def found_in(category: str, methods: Mapping[str, object], hits: int) -> Results:
    """Ten questions of which so many were answered first."""
    results = Results()
    for method in methods:
        for number in range(10):
            answer = ("s", 1) if number < hits else ("s", 2)
            results.add(method, Question("?", category, frozenset({("s", 1)})), [answer])
    return results


def test_tuning_set_is_separated_from_reported_set() -> None:
    parts = Parts(found_in("temporal", {**METHODS, **WEIGHTS}, 2), found_in("single-hop", METHODS, 8))
    assert "temporal" not in as_table(parts.others)
    assert f"| **{OURS}** | **80.0 / 80.0 / 80.0** | **80.0 / 80.0 / 80.0** |" in as_table(parts.others)
    assert [len(scores.at_5) for scores in parts.whole.scores[OURS].values()] == [10, 20, 10]
    assert parts.whole.scores[OURS][TOTAL].means() == pytest.approx((50, 50, 50))
    assert weights_table(parts.chosen_on).count("20.0 / 20.0 / 20.0") == len(WEIGHTS)
    assert "0.6 / 0.4" in weights_table(parts.chosen_on)


def test_too_few_conversations_are_rejected(tmp_path: Path) -> None:
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([{"sample_id": "c1", "conversation": {}, "qa": []}] * 2))
    with pytest.raises(ValueError, match="2 conversations; 3 are needed"):
        main([str(file)])


def test_without_file_it_reports_that_nothing_was_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    group = measure()
    assert list(group.figures) == []
    assert "Not measured" in group.notes[0]
    assert main([]) == 0
    assert "Not measured" in capsys.readouterr().out
