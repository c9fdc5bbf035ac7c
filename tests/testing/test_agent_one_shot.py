"""The model alone: which script is taken from its words, what it is told of errors, and what counts as its answer."""

import asyncio
from pathlib import Path

import pytest

from benchmarks.agent.example_data import WELCOME
from benchmarks.agent.one_shot import REPAIRS, OneShot, answer_with_scripts, script_in
from benchmarks.agent.task import Task, Verdict
from tests.local_model import FILE, needs_local_model

FENCE = "```"


class Said:
    """A model that says one thing after the other, and what it was told."""

    def __init__(self, *answers: str) -> None:
        self.told: list[str] = []
        self._answers = list(answers)

    async def ask(self, message: str) -> str:
        self.told.append(message)
        return self._answers.pop(0)


def scripts(said: Said, folder: Path) -> tuple[str, list[str]]:
    return asyncio.run(answer_with_scripts(said, "How many legs?", folder))


def fenced(source: str) -> str:
    return f"Here it is:\n{FENCE}python\n{source}\n{FENCE}\nGood luck."


@pytest.mark.parametrize(
    ("text", "source"),
    [
        (fenced("x = 1"), "x = 1\n"),
        (f"{FENCE}\nx = 2\n{FENCE}\nand\n{FENCE}\ny\n{FENCE}", "x = 2\n"),
        (f"1. So:\n   {FENCE}py\n   x = 3\n   {FENCE}\n", "x = 3\n"),
        (f"{FENCE}python\nx = 4", "x = 4\n"),
        ("x = 5", "x = 5"),
    ],
)
def test_first_script_in_answer_is_run(text: str, source: str) -> None:
    assert script_in(text) == source


def test_printed_output_is_the_answer_and_table_is_found(tmp_path: Path) -> None:
    (tmp_path / "animals.csv").write_text("name,legs\ncat,4\n")
    said = Said(fenced("print(open('animals.csv').read().split(',')[-1])"))
    assert scripts(said, tmp_path) == ("", ["4\n\n"])
    assert said.told == ["How many legs?"]


def test_error_is_reported_and_corrected_script_counts(tmp_path: Path) -> None:
    said = Said(fenced("print(1)\n{}['legs']"), fenced("x = 4"), fenced("print(4)"))
    assert scripts(said, tmp_path) == ("", ["1\n", "", "4\n"])
    _, first, second = said.told
    assert "KeyError: 'legs'" in first
    assert 'File "answer.py", line 2' in first.replace(f"{tmp_path}/", "")
    assert "It printed nothing." in second


def test_after_last_repair_it_fails(tmp_path: Path) -> None:
    said = Said(*[fenced("1 / 0")] * (1 + REPAIRS))
    error, printed = scripts(said, tmp_path)
    assert error == f"the script failed {1 + REPAIRS} times: ZeroDivisionError: division by zero"
    assert printed == [""] * (1 + REPAIRS)


def test_notebook_task_is_rejected(tmp_path: Path) -> None:
    task = Task("x", "easy", ["What?"], lambda _: Verdict(right=False, computed=False), (), WELCOME)
    (tmp_path / "never-loaded.gguf").touch()
    with (
        OneShot(f"local/{tmp_path}/never-loaded.gguf") as one_shot,
        pytest.raises(ValueError, match="x is about a notebook"),
    ):
        one_shot.run(task, tmp_path)


@needs_local_model
def test_real_model_is_asked_and_its_answer_kept(tmp_path: Path) -> None:
    task = Task("x", "easy", ["What is 3 + 4? Print it."], lambda _: Verdict(right=False, computed=False))
    with OneShot(f"local/{FILE}", time_limit_s=90) as one_shot:
        (turn,) = one_shot.run(task, tmp_path)
    assert turn.model_calls > 0
    assert turn.completion_tokens > 0
    assert bool(turn.answer) != bool(turn.error)
    assert "What is 3 + 4?" in (tmp_path / "conversation.md").read_text("utf-8")
