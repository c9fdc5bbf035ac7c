"""Questions of DABench from a folder outside of this project: `questions.jsonl` and `tables/`. It holds none itself.

Source: Hu et al., "InfiAgent-DABench: Evaluating Agents on Data Analysis Tasks", ICML 2024.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError

from benchmarks.agent.scoring import is_computed, is_right, is_solved
from benchmarks.agent.task import Task, Turn, Verdict

LEVELS = ("easy", "medium", "hard")


class _Question(BaseModel):
    id: int
    question: str
    constraints: str
    format: str
    file_name: str
    level: str
    labels: list[tuple[str, str]]


def read_tasks(folder: Path) -> list[Task]:
    """All its questions. Raises: ValueError with the line that is wrong, or the file that is missing."""
    file = folder / "questions.jsonl"
    if not file.is_file():
        raise ValueError(f"There is no {file}. --data takes the folder of a DABench sample: questions.jsonl, tables/.")
    tasks = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        try:
            question = _Question.model_validate_json(line)
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            where = ".".join(map(str, problem["loc"])) or "the line"
            raise ValueError(f"{file}, line {number}: {where}: {problem['msg']}") from None
        table = folder / "tables" / question.file_name
        if not table.is_file():
            raise ValueError(f"{file}, line {number}: there is no table {table}.")
        tasks.append(_task(question, table))
    return tasks


def _task(question: _Question, table: Path) -> Task:
    message = "\n\n".join(
        [
            f"{question.question} The data is in the file {question.file_name}.",
            f"Constraints: {question.constraints}",
            f"Give the answer in this form:\n{question.format}",
        ]
    )
    return Task(str(question.id), question.level, [message], _judge(question.labels, message), [table])


def _judge(labels: Sequence[tuple[str, str]], asked: str) -> Callable[[Sequence[Turn]], Verdict]:
    def judge(turns: Sequence[Turn]) -> Verdict:
        answer = turns[-1].answer
        right = is_right(answer, labels, asked)
        return Verdict(
            right=right,
            computed=is_computed([text for turn in turns for text in turn.outputs], labels),
            solved=is_solved(answer, labels),
            missing="" if right else "wanted " + " ".join(f"@{name}[{value}]" for name, value in labels),
        )

    return judge
