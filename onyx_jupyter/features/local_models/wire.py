"""Downloadable models that run on this machine, on the socket."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from onyx_jupyter.operations.wire import Wire


class LocalModelInfo(Wire):
    """One model and its file. `ready`: it can be chosen. `paused`: `doneBytes` of it are there, and it can go on.

    `failed`: no source had the file, as `error` says. What is paused may have an `error`, too.
    """

    id: str
    title: str
    bytes: int
    licence: str
    parameters: str = Field(description="its parameter count, in words")
    context_tokens: int
    state: Literal["ready", "missing", "fetching", "paused", "failed"]
    done_bytes: int
    least_memory: int = Field(description="free memory it needs, in bytes")
    fits_memory: bool = Field(description="whether that much was free when checked")
    recommended: bool = Field(description="the best one that fits; exactly one in the list")
    removable: bool
    shared: bool = Field(description="the file is shared by everyone who uses this installation")
    source: str | None = Field(default=None, description="the current download source")
    fetcher: str | None = Field(default=None, description="who is downloading it, if not this server")
    error: str | None = None
    path: str | None = Field(default=None, description="the file's path, once it is ready")


class LocalModelList(Wire):
    """The best first."""

    models: list[LocalModelInfo]


class LocalModelParams(Wire):
    id: str = Field(min_length=1, max_length=200)


class LocalModelsRemoveParams(Wire):
    id: str = Field(min_length=1, max_length=200)
    shared: bool = Field(default=False, description="also remove a shared file; refused without this")
