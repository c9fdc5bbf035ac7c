"""The contents of a notebook's kernel on the socket, for name completion and context chips."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from onyx_jupyter.operations.wire import Wire


class KernelVariablesParams(Wire):
    path: str = Field(min_length=1, description="as in the file browser")
    pattern: str | None = Field(
        default=None, min_length=1, max_length=200, description="part of a name, or a pattern with * and ?"
    )
    limit: int = Field(default=200, ge=1, le=1000)


class KernelVariable(Wire):
    """A variable in one line; `sizeBytes` is what its data takes, where that is known."""

    name: str
    kind: Literal["frame", "array", "object", "container", "text", "value", "function", "class", "module"]
    type: str
    summary: str
    size_bytes: int | None = None


class KernelVariableList(Wire):
    """Frames and arrays first, the newest first among equals.

    `state` is `ok`, or why there are none: no_kernel, kernel_dead, kernel_restarting, kernel_busy, not_python,
    too_slow, not_readable. `message` then says it in words. `leftOut` counts those beyond the limit.
    """

    state: str
    message: str = ""
    variables: list[KernelVariable]
    left_out: int = 0
