"""Project instructions on the socket: reading, trusting and declining them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from onyx_jupyter.operations.wire import Wire


class ProjectFile(Wire):
    """One file as it is now. `unusable`: `reason` says why nobody can trust it; text and digest are empty then."""

    path: str = Field(description="relative to the server's root")
    state: Literal["new", "changed", "trusted", "declined", "unusable"]
    digest: str = Field(description="identifies this content, for `project.trust` and `project.decline`")
    lines: int
    text: str = Field(description="the full text that would be trusted")
    diff: str | None = Field(
        default=None, description="unified diff from the last trusted version; None if no line differs"
    )
    reason: str | None = None


class ProjectFiles(Wire):
    folder: str = Field(description="name of the server's root folder")
    files: list[ProjectFile]


class ProjectDecisionParams(Wire):
    """Another content by now is refused (`project_file_changed`)."""

    path: str = Field(max_length=1000)
    digest: str = Field(max_length=64, description="hash of the content that was shown")


class ProjectUpdatedData(Wire):
    """The instructions changed, or what somebody said of them: ask for them again."""
