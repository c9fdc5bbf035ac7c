"""One home with notebooks on a shelf, in which turns change cells, are taken back and put back, over restarts."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onyx_jupyter.notebook.review.change_store import ChangeStore
from onyx_jupyter.notebook.review.recording import Author, ChangeRecorder, RecordedNotebooks, RetentionLimits
from onyx_jupyter.notebook.review.review_actions import Reviewing
from onyx_jupyter.protocols import CellChange
from onyx_jupyter.testing.fake_clock import FakeClock, fake_ids
from tests.notebook.shelf import Shelf

A, B = "a.ipynb", "b.ipynb"
SESSION, RUN = "s1", "r1"


class Killed(BaseException):
    """As `kill -9`: nothing that follows is done."""


@dataclass
class Desk:
    """One home with notebooks on a shelf; `restart` forgets all but the files."""

    folder: Path
    shelf: Shelf
    limits: RetentionLimits = field(default_factory=RetentionLimits)
    busy: set[str] = field(default_factory=set)
    told: list[str] = field(default_factory=list)
    clock: FakeClock = field(default_factory=FakeClock)
    moves: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ids = fake_ids()
        self.restart()

    def stop_after(self, steps: int) -> None:
        """The server is killed once it has written so often, into its own files or to notebooks."""
        left = iter(range(steps))

        def dying(write: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
            async def write_or_die(*args: Any) -> Any:
                if next(left, None) is None:
                    raise Killed
                return await write(*args)

            return write_or_die

        self.store.append = dying(self.store.append)  # type: ignore[method-assign]
        for name in ("apply", "create"):
            setattr(self.shelf, name, dying(getattr(Shelf, name).__get__(self.shelf)))
        self.review = Reviewing(
            self.store, self.recorder, str, dying(self.shelf.remove), self.busy.__contains__, self.clock, self.ids
        )

    def restart(self) -> None:
        for name in ("apply", "create"):
            vars(self.shelf).pop(name, None)
        self.store = ChangeStore(self.folder / "changes")
        self.recorder = ChangeRecorder(
            self.shelf,
            self.store,
            str,
            self.clock,
            self.ids,
            lambda: self.limits,
            lambda path, by: self.told.append(path),
            self._path_now,
        )
        self.review = Reviewing(
            self.store, self.recorder, str, self.shelf.remove, self.busy.__contains__, self.clock, self.ids
        )

    def hand(self, run: str = RUN, session: str = SESSION) -> RecordedNotebooks:
        """The notebooks as a run's tools have them."""
        return self.recorder.notebooks_for(Author("main", session, run))

    async def change(self, *changes: CellChange, path: str = A, run: str = RUN, session: str = SESSION) -> None:
        await self.hand(run, session).apply(path, changes)

    async def run(self, cell_id: str, run: str = RUN, *, path: str = A) -> None:
        await self.hand(run).run_cell(path, cell_id, lambda line: None)

    async def kinds(self, path: str = A) -> dict[str, tuple[str, ...]]:
        """Cell → what its mark says."""
        return {mark.cell_id: mark.kinds for mark in await self.review.marks(path)}

    async def _path_now(self, path: str) -> str:
        return self.moves.get(path, path)

    @property
    def file(self) -> Path:
        return self.folder / "changes" / "main" / f"{SESSION}.jsonl"

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.file.read_text("utf-8").splitlines()]


async def undone(desk: Desk, run: str = RUN) -> dict[str | None, str]:
    """Undoes the run; cell → why it was left alone."""
    return {left.cell_id: left.reason for left in (await desk.review.undo(SESSION, run, "ada")).left}


def picture(name: str) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {"image/png": f"PICTURE {name} " * 500}, "metadata": {}}
