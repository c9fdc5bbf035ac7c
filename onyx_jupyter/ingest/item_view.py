"""An item as shown to the user: where it is, how far it has been read, what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from onyx_jupyter.ingest.items import Item
from onyx_jupyter.protocols.knowledge import FileProblem, KnowledgeItem, ReadingState


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` files were checked."""

    state: ReadingState
    done: int
    total: int


def to_knowledge_item(item: Item, progress: Progress | None, shown: Callable[[str], str]) -> KnowledgeItem:
    """`progress` is None if nothing is in progress; `shown` converts a name in the index to what the user sees."""
    progress = progress or Progress(_state(item), len(item.files), len(item.files))
    problems = [(file.name, message) for file in item.files for message in (file.problem, file.note) if message]
    titles = [file.title for file in item.files if file.title] if len(item.files) == 1 else []
    path = shown(item.location)
    return KnowledgeItem(
        item_id=item.id,
        kind=item.kind,
        path=path,
        title=titles[0] if titles else path.rstrip("/").rpartition("/")[2] or path,
        added_at=item.added_at,
        state=progress.state,
        done=progress.done,
        total=progress.total,
        chunks=sum(file.chunks for file in item.files),
        problems=[FileProblem(shown(name), message) for name, message in problems],
        problem=item.problem,
    )


def _state(item: Item) -> ReadingState:
    if item.stopped:
        return "stopped"
    if item.problem is not None:
        return "failed"
    return "done" if item.files else "waiting"
