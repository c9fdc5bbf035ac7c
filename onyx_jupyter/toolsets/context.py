"""What a running tool can use: its location, its caller, and the services it may call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from onyx_jupyter.clock import Clock
from onyx_jupyter.config.schema import WebConfig
from onyx_jupyter.notebook.seen_cells import SeenCells
from onyx_jupyter.processes.run_processes import RunProcesses
from onyx_jupyter.protocols import (
    Facts,
    Kernels,
    Knowledge,
    Memory,
    Notebooks,
    Search,
    Sessions,
    UserAnswer,
    UserQuestion,
)
from onyx_jupyter.schedule.scheduler import Scheduler
from onyx_jupyter.security.path_guard import PathGuard


async def no_tab(path: str) -> bool:
    """There is no tab to show a notebook in."""
    return False


async def _no_notebook() -> str | None:
    """The call doesn't come from a notebook's cell."""
    return None


@dataclass(frozen=True)
class ToolContext:
    """The environment of one call.

    `server_root` is the folder of JupyterLab's file browser; `timeout_s` and `max_output_bytes` are the configured
    limits of `tools`, `web` is the section of that name; `progress` sends one short line to the user; `ask` waits for
    the user's answer, and is None if no user can answer. Anything beyond `max_result_chars` is cut from a result before
    a model sees it. `processes` are the commands of this run, `sessions` the agent's other ones; `memory_search` finds
    passages of its memory, `facts` are what it was told to remember. `scheduler` returns the scheduled jobs;
    `time_zone` is the zone of those that name none.

    `asking_notebook` returns the notebook whose cell asked: its kernel waits for the answer.

    `kernels` are those of the notebooks, None if unreachable; `seen_cells` is what this session's model has seen of
    them, `knowledge` the user's documents, `open_notebooks` those open in tabs, and the one in front; `show_notebook`
    opens one in front of the user and returns whether it is open now. `notebook_in_front` is the one in front when the
    user sent their message, None if unknown.
    """

    session_key: str
    agent_id: str
    run_id: str
    call_id: str
    workspace: Path
    server_root: Path
    paths: PathGuard
    notebooks: Notebooks
    memory: Memory
    clock: Clock
    timeout_s: float
    max_output_bytes: int
    progress: Callable[[str], None]
    web: WebConfig = field(default_factory=WebConfig)
    processes: RunProcesses = field(default_factory=RunProcesses)
    ask: Callable[[UserQuestion], Awaitable[UserAnswer]] | None = None
    max_result_chars: int = 16_000
    sessions: Sessions | None = None
    memory_search: Search | None = None
    facts: Facts | None = None
    scheduler: Callable[[], Scheduler] | None = None
    time_zone: str = "UTC"
    kernels: Kernels | None = None
    knowledge: Knowledge | None = None
    seen_cells: SeenCells = field(default_factory=SeenCells)
    open_notebooks: Callable[[], tuple[Sequence[str], str | None]] = lambda: ((), None)
    notebook_in_front: str | None = None
    asking_notebook: Callable[[], Awaitable[str | None]] = _no_notebook
    show_notebook: Callable[[str], Awaitable[bool]] = no_tab
