"""The interface of a skill runner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from onyx_jupyter.skills.run_record import RunRecord
from onyx_jupyter.skills.skill import Skill


@dataclass(frozen=True, slots=True)
class RunRequest:
    """`given` are validated values by parameter; `cwd` is where the kernel starts; `by` is a person or `agent:<id>`."""

    skill: Skill
    given: Mapping[str, Any]
    cwd: Path
    by: str
    session_key: str | None = None


@dataclass(frozen=True, slots=True)
class CellProgress:
    """Code cell `index` of `total`, from 1; `cell` is its heading or first line, `line` its last line of output."""

    index: int
    total: int
    cell: str
    line: str = ""

    def __str__(self) -> str:
        where = f"Cell {self.index} of {self.total}: {self.cell}"
        return f"{where} · {self.line}" if self.line else where


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended: `outputs` are the nbformat 4 outputs that count, `copy` is the executed notebook."""

    record: RunRecord
    outputs: tuple[Mapping[str, Any], ...]
    copy: Path


class SkillRunner(Protocol):
    """Runs skills for agents."""

    async def run(self, request: RunRequest, progress: Callable[[CellProgress], None]) -> RunOutcome:
        """Runs to the end; cancelling stops it. Raises: ToolError if it could not be started, StorageError."""
        ...
