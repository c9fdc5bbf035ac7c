"""Documents on the socket."""

from __future__ import annotations

from pydantic import Field, model_validator

from onyx_jupyter.operations.wire import Wire
from onyx_jupyter.protocols import KnowledgeKind, ReadingState


class KnowledgeAddParams(Wire):
    """Either a path (a file or a folder, as in the file browser) or a URL. What is there already is read anew."""

    path: str | None = Field(default=None, min_length=1, max_length=4096)
    url: str | None = Field(default=None, min_length=1, max_length=8000)
    agent_id: str | None = Field(
        default=None, description="agent whose allowed folders apply; default: the agent marked `default`"
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> KnowledgeAddParams:
        if (self.path is None) == (self.url is None):
            raise ValueError("give either path or url")
        return self


class KnowledgeProblem(Wire):
    """Why a file, or a part of it, cannot be found, and what to do."""

    path: str
    message: str


class KnowledgeItemInfo(Wire):
    """What was added at once. `done` of `total` files were looked at, and `chunks` passages can be found.

    `problem` is of the item as a whole; `problems` are the first of its files', `problemCount` counts all.
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
    problem_count: int
    problems: list[KnowledgeProblem] = Field(default_factory=list)
    problem: str | None = None


class KnowledgeList(Wire):
    """The oldest first. A file that is uploaded may have `maxUploadBytes`."""

    items: list[KnowledgeItemInfo]
    max_upload_bytes: int


class KnowledgeItemParams(Wire):
    item_id: str = Field(min_length=1, max_length=64)


class KnowledgeRefreshParams(Wire):
    item_id: str | None = Field(default=None, max_length=64, description="default: everything")


class KnowledgeSearchParams(Wire):
    query: str = Field(min_length=1, max_length=1000)
    limit: int = Field(default=6, ge=1, le=100)
    paths: list[str] | None = Field(default=None, max_length=50, description="these folders and everything below them")
    agent_id: str | None = Field(default=None, description="only what this agent may read; default: everything")


class KnowledgePassageInfo(Wire):
    """A passage; `text` is all of it, `snippet` what shows why it was found. `score` is between 0 and 1.

    Lines are the file's own, counted from 1; where its text was drawn from something else there are none, and `page`
    or `cell` say where it is.
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


class KnowledgeResults(Wire):
    """`note` says what kept the search from being better."""

    results: list[KnowledgePassageInfo]
    note: str | None = None


class KnowledgeUpdatedData(Wire):
    """Something was removed: ask for the list."""
