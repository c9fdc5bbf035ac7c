"""Memory on the socket."""

from __future__ import annotations

from pydantic import Field

from onyx_jupyter.server.wire.base import Wire


class MemorySearchParams(Wire):
    query: str = Field(min_length=1, max_length=1000)
    agent_id: str | None = None
    limit: int = Field(default=6, ge=1, le=100)


class MemoryPassage(Wire):
    """Lines of a memory file, counted from 1; `score` is between 0 and 1, and higher is better."""

    path: str
    start_line: int
    end_line: int
    heading: str
    score: float
    snippet: str


class MemoryResults(Wire):
    results: list[MemoryPassage]
