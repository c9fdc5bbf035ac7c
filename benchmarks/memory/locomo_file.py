"""Reads LoCoMo's conversations and questions (Maharana et al., ACL 2024). It never searches, and brings none along."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from onyx_jupyter.retrieval.conversation_chunking import Turn

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_SESSION = re.compile(r"session_(\d+)")


@dataclass(frozen=True)
class Session:
    """What was said on one day; turn and line count from 1."""

    name: str
    day: date
    turns: Sequence[Turn]


@dataclass(frozen=True)
class Question:
    """`evidence` are the turns that answer it, as (session, line)."""

    text: str
    category: str
    evidence: frozenset[tuple[str, int]]


@dataclass(frozen=True)
class Conversation:
    """Two people over months, and what is asked of it afterwards."""

    name: str
    sessions: Sequence[Session]
    questions: Sequence[Question]


def read_conversations(path: Path) -> list[Conversation]:
    """Questions whose evidence is named nowhere are left out. Raises: OSError, ValueError, KeyError."""
    return [_conversation(one) for one in json.loads(path.read_text("utf-8"))]


def _conversation(data: Mapping[str, Any]) -> Conversation:
    places: dict[str, tuple[str, int]] = {}
    sessions = list(_sessions(data["conversation"], places))
    asked = [(one, frozenset(places[turn] for turn in one.get("evidence", ()) if turn in places)) for one in data["qa"]]
    questions = [Question(one["question"], CATEGORIES[one["category"]], found) for one, found in asked if found]
    return Conversation(data["sample_id"], sessions, questions)


def _sessions(data: Mapping[str, Any], places: dict[str, tuple[str, int]]) -> Iterator[Session]:
    """In their order; `places` is told where each turn lies."""
    for name in sorted((key for key in data if _SESSION.fullmatch(key)), key=lambda key: int(key.partition("_")[2])):
        places.update({turn["dia_id"]: (name, line) for line, turn in enumerate(data[name], 1)})
        turns = [Turn(turn["speaker"], _said(turn), line) for line, turn in enumerate(data[name], 1)]
        yield Session(name, _day(data[f"{name}_date_time"]), turns)


def _said(turn: Mapping[str, Any]) -> str:
    picture = turn.get("blip_caption")
    return f"{turn['text']} [picture: {picture}]" if picture else turn["text"]


def _day(text: str) -> date:
    """Of `1:56 pm on 8 May, 2023`."""
    return datetime.strptime(text.partition(" on ")[2], "%d %B, %Y").replace(tzinfo=UTC).date()
