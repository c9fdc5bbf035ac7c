"""Prevents a deadlock: a run must not wait for the kernel whose cell waits for the run."""

from __future__ import annotations

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.toolsets.context import ToolContext

WAITS = (
    "The question came from a cell of {asking}, and its kernel{too} is waiting for your answer: nothing else can run "
    "in it until then. Insert the code as a cell and say that the user can run it, or work in another notebook."
)


async def refuse_asking_notebook(path: str, context: ToolContext) -> None:
    """Call before running code in a notebook's kernel. Raises: NotebookError (kernel_waits) if a cell in it asked."""
    asking = await context.asking_notebook()
    if asking is None:
        return
    too = ""
    if context.paths.api_path(asking) != context.paths.api_path(path):
        if context.kernels is None or not await context.kernels.is_same_kernel(asking, path):
            return
        too = f", in which {path} runs too,"
    raise NotebookError("kernel_waits", WAITS.format(asking=asking, too=too))
