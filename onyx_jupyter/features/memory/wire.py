"""Memory on the socket."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from onyx_jupyter.operations.wire import Wire
from onyx_jupyter.protocols import MemoryAuthor, SourceKind


class MemorySearchParams(Wire):
    """`kinds`, `paths` (prefixes), `since` and `until` limit what may be found; default: everything."""

    query: str = Field(min_length=1, max_length=1000)
    agent_id: str | None = None
    limit: int = Field(default=6, ge=1, le=100)
    min_score: float | None = Field(default=None, ge=0, le=1, description="default: memory.minScore")
    kinds: list[Literal["memory", "shared", "fact"]] | None = Field(default=None, max_length=10)
    paths: list[str] | None = Field(default=None, max_length=50)
    since: date | None = None
    until: date | None = None


class MemoryPassage(Wire):
    """Lines of a memory file, counted from 1; `score` and its parts are between 0 and 1, and higher is better.

    A part that did not count is left out. `agentId` is left out for what all agents share; `day` is set for what grows
    old.
    """

    path: str
    start_line: int
    end_line: int
    heading: str
    score: float
    snippet: str
    kind: SourceKind = "memory"
    agent_id: str | None = None
    vector_score: float | None = None
    text_score: float | None = None
    recency: float | None = None
    day: str | None = None


class MemoryResults(Wire):
    """`note` says what kept the search from being better."""

    results: list[MemoryPassage]
    note: str | None = None


class MemoryFilesParams(Wire):
    agent_id: str | None = Field(default=None, description="default: the agent marked `default`")


class MemoryFileInfo(Wire):
    """A memory file; one under `shared/` belongs to all agents. `checksum` is what a change of it is based on.

    `indexed`: search knows it as it stands. `problem` says why it cannot be searched. Of a `deleted` one only versions
    are left.
    """

    path: str
    shared: bool
    size_bytes: int
    changed_at: str | None = None
    checksum: str | None = None
    versions: int
    indexed: bool
    deleted: bool = False
    problem: str | None = None


class MemoryFileList(Wire):
    files: list[MemoryFileInfo]


class MemoryReadParams(Wire):
    path: str = Field(min_length=1, max_length=4096)
    agent_id: str | None = None
    version: int | None = Field(default=None, ge=1, description="default: the current file")


class MemoryFact(Wire):
    """A fact of `memory/facts.jsonl` as its last line says; `lines` are all that tell of it, counted from 1.

    `confidence` is that of now, from 0 to 1. It was first told at `since`, last at `toldAt`, and true from `validFrom`
    to `validUntil`; without that it still is. `supersededBy` is the id of the fact that took its place.
    """

    id: str
    text: str
    category: str
    confidence: float
    lines: list[int]
    since: str
    told_at: str
    valid_from: str
    valid_until: str | None = None
    superseded_by: str | None = None
    author: MemoryAuthor
    session_key: str | None = None


class MemoryFacts(Wire):
    """`otherLines` counts those that are no fact."""

    facts: list[MemoryFact]
    other_lines: int = 0


class MemoryText(Wire):
    """A file's text; `checksum` is of the whole, also where the text is `cut`. `facts` are those that it tells."""

    path: str
    text: str
    checksum: str
    cut: bool = False
    facts: MemoryFacts | None = None


class MemoryVersionsParams(Wire):
    path: str = Field(min_length=1, max_length=4096)
    agent_id: str | None = None
    limit: int = Field(default=100, ge=1, le=1000)
    before: int | None = Field(default=None, ge=1, description="only versions with a smaller number")


class MemoryVersionInfo(Wire):
    """A state of a file from `at` on. `current`: the file is like that now. `deleted`: it was gone.

    `restored` is the number of the version that was brought back.
    """

    version: int
    at: str
    author: MemoryAuthor
    size_bytes: int
    current: bool
    session_key: str | None = None
    restored: int | None = None
    deleted: bool = False


class MemoryVersions(Wire):
    """The newest first; `total` counts those that are kept."""

    versions: list[MemoryVersionInfo]
    total: int


class MemoryDiffParams(Wire):
    """The change from `version` to `to`, or to the file as it is now; 0 is the nothing before the first one."""

    path: str = Field(min_length=1, max_length=4096)
    version: int = Field(ge=0)
    to: int | None = Field(default=None, ge=1, description="another version; default: the current file")
    agent_id: str | None = None


class MemoryDiff(Wire):
    """A unified diff, empty where nothing differs; `checksum` is that of the file now, empty where it is gone."""

    diff: str
    checksum: str


class MemoryRestoreParams(Wire):
    path: str = Field(min_length=1, max_length=4096)
    version: int = Field(ge=1)
    based_on: str | None = Field(
        default=None, max_length=64, description="checksum of the file as shown; refused if it has changed since"
    )
    agent_id: str | None = None


class MemoryRestored(Wire):
    """`version` is the new one, which holds what the restored one held."""

    path: str
    version: int


class MemoryEmbedder(Wire):
    provider: str
    model: str
    dimension: int


class MemoryProblem(Wire):
    """Why a file cannot be searched; without `path` what is wrong beyond one: index, embedder, keeping of versions."""

    message: str
    path: str | None = None
    agent_id: str | None = None


class MemoryProgress(Wire):
    """Files that are being read into the index."""

    done: int
    total: int


class MemoryStatus(Wire):
    """How search stands. `searches`: by the index, or by words in the files alone while the index cannot be used.

    `seeksEmbedder`: which embedder there is, is still being found out; `memory.updated` comes when it is known.
    """

    searches: Literal["index", "words"]
    embedder: MemoryEmbedder | None = None
    seeks_embedder: bool = False
    files: int
    chunks: int | None = None
    problems: list[MemoryProblem]
    progress: MemoryProgress | None = None


class MemoryUpdatedData(Wire):
    """A memory file has changed, or, without `path`, how search stands.

    `agentId` is left out for what all agents share; `author` and `version` where nobody kept one.
    """

    path: str | None = None
    agent_id: str | None = None
    author: MemoryAuthor | None = None
    version: int | None = None


class MemoryUndoParams(Wire):
    """`noteId` is the `id` in the data of a note of the kind `memory`."""

    session_key: str
    note_id: str = Field(min_length=1, max_length=100)


class MemoryAcceptParams(Wire):
    """`noteId` is the `id` in the data of a note of the kind `compaction`, `proposal` counts its proposals from 0."""

    session_key: str
    note_id: str = Field(min_length=1, max_length=100)
    proposal: int = Field(ge=0, le=1000)


class MemoryAnswer(Wire):
    """`reason` says to the person why nothing was done; what was done comes as a note with the same id."""

    ok: bool
    reason: str | None = None
