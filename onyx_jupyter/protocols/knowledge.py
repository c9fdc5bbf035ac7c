"""Documents that a user wants found again: searching and adding them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

KnowledgeKind = Literal["path", "url", "upload"]
ReadingState = Literal["waiting", "reading", "done", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class KnowledgePassage:
    """A passage of a document. `path` is as JupyterLab writes it, or an address; `text` is the whole passage.

    `start_line` and `end_line` are the file's own, counted from 1, and None if its text was extracted from another
    format: then `page` (PDF) or `cell` (notebook), counted from 1, give the place. `score` is between 0 and 1.
    """

    path: str
    title: str
    heading: str
    score: float
    snippet: str
    text: str
    start_line: int | None = None
    end_line: int | None = None
    page: int | None = None
    cell: int | None = None
    cell_id: str | None = None


@dataclass(frozen=True, slots=True)
class KnowledgeAnswer:
    """Best first; `note` says what limited the search."""

    passages: Sequence[KnowledgePassage]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class FileProblem:
    """Why a file of an item, or part of it, cannot be found, and what to do."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class KnowledgeItem:
    """What was added in one step: a file, a folder or a page, and how far it has been read.

    `done` of `total` files were read; `chunks` passages can be found. `problem` concerns the item as a whole.
    """

    item_id: str
    kind: KnowledgeKind
    path: str
    title: str
    added_at: str
    state: ReadingState
    done: int
    total: int
    chunks: int
    problems: Sequence[FileProblem] = ()
    problem: str | None = None


class Knowledge(Protocol):
    """The documents of a server's user; an agent finds those in folders that it may read, pages and uploads."""

    async def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        paths: Sequence[str] | None = None,
        agent_id: str | None = None,
    ) -> KnowledgeAnswer:
        """Passages by words and meaning, of documents at or below `paths`; `agent_id` None: all of the user's.

        Raises: PathNotAllowed.
        """
        ...

    async def add(self, where: str, agent_id: str | None, *, is_url: bool) -> KnowledgeItem:
        """The new item, which is read in the background; an existing one is read again.

        Raises: PathNotAllowed, AddressNotAllowed, NotFound, StorageError.
        """
        ...

    async def finished(self, item_id: str, progress: Callable[[KnowledgeItem], None]) -> KnowledgeItem:
        """Waits until the item has been read, reporting each step. Raises: NotFound."""
        ...
