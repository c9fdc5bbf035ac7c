"""Requests that need no cell: memory, skills, text files. They are judged by the final state."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.agent.checks import Check, adds_no_cell, all_of, calls, has_file, has_not_noted, says, task
from benchmarks.agent.example_data import WELCOME
from benchmarks.agent.task import Task

_FILES = Path(__file__).parent / "files"
NOTES, ANIMALS = _FILES / "notes.md", _FILES / "animals.csv"
_CELLS_BEFORE = 1


def _task(identity: str, *messages: str, check: Check) -> Task:
    """Beside an empty notebook, which stays empty."""
    asked = task(identity, WELCOME, *messages, check=all_of(check, adds_no_cell(_CELLS_BEFORE)))
    return replace(asked, level="actions", notebook=None, files=(NOTES, ANIMALS))


TASKS = [
    _task(
        "know_a_colour",
        "Remember that my favourite colour is green.",
        "What do you know about my favourite colour?",
        check=says("green"),
    ),
    _task(
        "know_a_date",
        "Remember that our fiscal year starts in April.",
        "Remember that Anna is my manager.",
        "When does our fiscal year start? Look into your notes.",
        check=says("April", never="Anna"),
    ),
    _task(
        "know_nothing",
        "What do you remember about my holidays?",
        check=says(r"nothing|\bno\b|\bnot\b|n't"),
    ),
    _task(
        "forget",
        "Remember that my favourite colour is green.",
        "Forget that my favourite colour is green.",
        check=all_of(says("forgotten"), has_not_noted("green")),
    ),
    _task(
        "which_skills",
        "Which skills are there?",
        check=says("profile-table", "compare-tables", "tidy-notebook"),
    ),
    _task(
        "run_a_skill",
        "Run the skill profile table on animals.csv",
        check=calls("skill_profile_table"),
    ),
    _task(
        "summarise_a_file",
        "Read notes.md and summarise it.",
        check=says("Anna", "report|churn", "Vienna|Ben", never="Paris|budget"),
    ),
    _task(
        "ask_a_file",
        "What does notes.md say about Ben?",
        check=says("Vienna"),
    ),
    _task(
        "write_a_list",
        "Make a file todo.md with three things to pack for a trip.",
        check=has_file("todo.md", r"\w+.*\n.*\w+.*\n.*\w+"),
    ),
    _task(
        "write_what_is_said",
        "Write shopping.md with milk, eggs and 2 loaves of bread, one in each line.",
        check=has_file("shopping.md", r"milk[^\n]*\n[^\n]*eggs[^\n]*\n[^\n]*2 loaves"),
    ),
    _task(
        "write_from_a_file",
        "Read notes.md and write a short version into short.md.",
        check=has_file("short.md", "Anna", "Ben"),
    ),
    _task(
        "list_files",
        "Which files are here?",
        check=says(r"notes\.md", r"animals\.csv"),
    ),
]
