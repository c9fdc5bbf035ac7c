"""Results as tables, and one line per failure. It measures and judges nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from benchmarks.agent.task import Task, Turn, Verdict

SCHEMA_VERSION = 1
_ASKED_CHARS = 90
_CAME_CHARS = 160
_TOTAL = "all"


@dataclass(frozen=True)
class Result:
    """A task with its outcome."""

    task: Task
    turns: Sequence[Turn]
    verdict: Verdict

    @property
    def error(self) -> str:
        return self.turns[-1].error

    @property
    def is_unsaid(self) -> bool:
        """Computed, but not said."""
        return self.verdict.computed and not self.verdict.right

    def total(self, name: str) -> float:
        """The sum of one of the numbers of its turns."""
        return float(sum(getattr(turn, name) for turn in self.turns))


_COLUMNS: Sequence[tuple[str, Callable[[Sequence[Result]], str]]] = (
    ("questions", lambda results: str(len(results))),
    ("right", lambda results: _share(sum(one.verdict.right for one in results), len(results))),
    ("solved", lambda results: _solved(results)),
    ("computed, not said", lambda results: str(sum(one.is_unsaid for one in results))),
    ("errors", lambda results: str(sum(bool(one.error) for one in results))),
    ("model calls", lambda results: f"{_mean(results, 'model_calls'):.1f}"),
    ("prompt tokens", lambda results: f"{_mean(results, 'prompt_tokens'):,.0f}"),
    ("completion tokens", lambda results: f"{_mean(results, 'completion_tokens'):,.0f}"),
    ("seconds", lambda results: f"{_mean(results, 'seconds'):.0f}"),
)


def as_table(results: Sequence[Result]) -> str:
    """One row per level, in Markdown; the last four columns are means."""
    levels = list(dict.fromkeys(one.task.level for one in results))
    groups = {level: [one for one in results if one.task.level == level] for level in levels}
    if len(groups) > 1:
        groups[_TOTAL] = list(results)
    head = ["level", *(name for name, _ in _COLUMNS)]
    rows = [[level, *(write(group) for _, write in _COLUMNS)] for level, group in groups.items()]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def as_failures(results: Sequence[Result]) -> str:
    """One line per wrong answer: the question, the expected and the actual answer."""
    return "\n".join(_failure(one) for one in results if not one.verdict.right)


def as_json(results: Sequence[Result], about: dict[str, Any]) -> str:
    """Everything but the notebooks, for programs."""
    return (
        json.dumps({"schema_version": SCHEMA_VERSION, **about, "results": list(map(_data, results))}, indent=1) + "\n"
    )


def _failure(result: Result) -> str:
    came = result.error or result.turns[-1].answer or "an empty answer"
    unsaid = ", though it was computed" if result.is_unsaid else ""
    asked = _line(" → ".join(result.task.messages), _ASKED_CHARS)
    return f"- {result.task.id} ({result.task.level}): {asked}: {result.verdict.missing}{unsaid}; came: {_came(came)}"


def _came(text: str) -> str:
    """The end of an answer is where it says what came out."""
    line = " ".join(text.split())
    return line if len(line) <= _CAME_CHARS else f"…{line[-_CAME_CHARS:]}"


def _line(text: str, chars: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= chars else f"{line[:chars]}…"


def _data(result: Result) -> dict[str, Any]:
    verdict = result.verdict
    turns = [
        {
            "message": turn.message,
            "answer": turn.answer,
            "error": turn.error,
            "tools": list(turn.tools),
            "modelCalls": turn.model_calls,
            "promptTokens": turn.prompt_tokens,
            "completionTokens": turn.completion_tokens,
            "seconds": round(turn.seconds, 1),
        }
        for turn in result.turns
    ]
    return {
        "id": result.task.id,
        "level": result.task.level,
        "right": verdict.right,
        "solved": verdict.solved,
        "computed": verdict.computed,
        "missing": verdict.missing,
        "turns": turns,
    }


def _share(count: int, of: int) -> str:
    return f"{count} ({count / of:.0%})"


def _solved(results: Sequence[Result]) -> str:
    asked = [one.verdict.solved for one in results if one.verdict.solved is not None]
    return _share(sum(asked), len(asked)) if asked else "–"


def _mean(results: Sequence[Result], name: str) -> float:
    return mean(one.total(name) for one in results)
