"""The writes to notebooks that a file records, with current paths, and the users' decisions. It does no I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace

from onyx_jupyter.notebook.review.lines import (
    ChangeRefused,
    ChangeStarted,
    Done,
    Effect,
    Line,
    Removed,
    Renamed,
    Reverting,
    UserDecision,
)


@dataclass(frozen=True, slots=True)
class Write:
    """One batch of changes. `is_certain` False: the server stopped, or the tab went, before the notebook answered."""

    id: str
    ts: str
    run_id: str
    path: str
    effects: tuple[Effect, ...]
    revert_id: str | None = None
    creates: bool = False
    is_certain: bool = True


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything that one session changed in notebooks, oldest first."""

    agent_id: str
    session_key: str
    writes: tuple[Write, ...] = ()
    removed: tuple[Removed, ...] = ()
    decisions: tuple[UserDecision, ...] = ()
    reverting: tuple[Reverting, ...] = ()

    @property
    def run_ids(self) -> list[str]:
        """The runs that changed something, oldest first."""
        return list(dict.fromkeys(write.run_id for write in self.writes if write.revert_id is None))

    def of_run(self, run_id: str) -> list[Write]:
        """The writes of the run itself."""
        return [write for write in self.writes if write.run_id == run_id and write.revert_id is None]

    def of_reverts(self, revert_ids: Collection[str], path: str) -> list[Write]:
        """The writes of these reverts in one notebook."""
        return [write for write in self.writes if write.revert_id in revert_ids and write.path == path]

    def undos(self, run_id: str) -> dict[str, list[str]]:
        """By notebook, the ids of the run's undos since it was last put back there, including interrupted ones."""
        tried = {(write.revert_id, write.path) for write in self.writes}
        lines: list[UserDecision | Reverting | Removed] = [
            *(line for line in self.decisions if line.what in ("undo", "put_back")),
            *(line for line in self.reverting if (line.revert_id, line.path) in tried),
            *self.removed,
        ]
        found: dict[str, dict[str, None]] = {}
        for line in sorted((line for line in lines if line.run_id == run_id), key=lambda line: line.id):
            if isinstance(line, UserDecision) and line.what == "put_back":
                found.pop(line.path, None)
            elif line.revert_id:
                found.setdefault(line.path, {})[line.revert_id] = None
        return {path: list(reverts) for path, reverts in found.items()}


@dataclass
class _Reading:
    writes: dict[str, Write] = field(default_factory=dict)
    began_at: dict[str, str] = field(default_factory=dict)
    removed: list[Removed] = field(default_factory=list)
    words: list[UserDecision | Reverting] = field(default_factory=list)

    def begin(self, line: ChangeStarted) -> None:
        self.writes[line.id] = _begun(line)
        self.began_at[line.id] = line.path

    def end(self, line: Done) -> None:
        if line.id in self.writes:
            write = self.writes[line.id]
            path = write.path if line.path == self.began_at[line.id] else line.path
            self.writes[line.id] = replace(write, path=path, effects=line.effects, is_certain=True)

    def rename(self, old: str, new: str) -> None:
        def moved(path: str) -> str:
            return new + path.removeprefix(old) if path == old or path.startswith(f"{old}/") else path

        self.writes = {key: replace(write, path=moved(write.path)) for key, write in self.writes.items()}
        self.removed = [line.model_copy(update={"path": moved(line.path)}) for line in self.removed]
        self.words = [line.model_copy(update={"path": moved(line.path)}) for line in self.words]

    def decisions(self) -> Iterator[UserDecision]:
        """Includes undos that were cut off after the notebook's answer but before the decision was written."""
        said = {(line.revert_id, line.path) for line in self.words if isinstance(line, UserDecision)}
        done = {(write.revert_id, write.path) for write in self.writes.values() if write.is_certain}
        last = {(line.revert_id, line.path): line for line in self.words}
        for line in self.words:
            place = (line.revert_id, line.path)
            if isinstance(line, UserDecision):
                yield line
            elif place in done and place not in said and last[place] is line:
                yield UserDecision(what="undo", **line.model_dump(exclude={"kind"}))


def read_changes(agent_id: str, session_key: str, lines: Iterable[Line]) -> Changes:
    """The changes recorded in the lines of one session's file."""
    reading = _Reading()
    for line in lines:
        match line:
            case ChangeStarted():
                reading.begin(line)
            case Done():
                reading.end(line)
            case ChangeRefused():
                reading.writes.pop(line.id, None)
                reading.removed = [removed for removed in reading.removed if removed.id != line.id]
            case Removed():
                reading.removed.append(line)
            case UserDecision() | Reverting():
                reading.words.append(line)
            case Renamed():
                reading.rename(line.from_path, line.path)
    return Changes(
        agent_id,
        session_key,
        tuple(reading.writes.values()),
        tuple(reading.removed),
        tuple(reading.decisions()),
        tuple(line for line in reading.words if isinstance(line, Reverting)),
    )


def _begun(line: ChangeStarted) -> Write:
    about = (line.id, line.ts, line.run_id, line.path, line.effects)
    return Write(*about, revert_id=line.revert_id, creates=line.creates, is_certain=False)
