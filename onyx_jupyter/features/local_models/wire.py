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
    parameters: str = Field(description="how many it has, in words")
    context_tokens: int
    state: Literal["ready", "missing", "fetching", "paused", "failed"]
    done_bytes: int
    least_memory: int = Field(description="bytes of free memory that it runs in")
    fits_memory: bool = Field(description="whether that much was free when it was looked")
    recommended: bool = Field(description="the best one that fits; one of the list is")
    removable: bool
    shared: bool = Field(description="the file is everybody's who uses this installation")
    source: str | None = Field(default=None, description="where the bytes come from that come now")
    fetcher: str | None = Field(default=None, description="who else fetches it, where this server does not")
    error: str | None = None
    path: str | None = Field(default=None, description="where the file is, once it is ready")


class LocalModelList(Wire):
    """The best first."""

    models: list[LocalModelInfo]


class LocalModelParams(Wire):
    id: str = Field(min_length=1, max_length=200)


class LocalModelsRemoveParams(Wire):
    id: str = Field(min_length=1, max_length=200)
    shared: bool = Field(default=False, description="the file that is everybody's, too; refused without it")
