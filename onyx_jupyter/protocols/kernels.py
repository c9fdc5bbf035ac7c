"""The kernels of notebooks, by the notebook's path: what is in them, and scratch code. It never names a cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from onyx_jupyter.protocols.notebooks import CellRun


class Kernels(Protocol):
    """The running kernels of notebooks, whether open in a tab or not; none is started here.

    Every call raises NotebookError: no_kernel where the notebook has none that runs, kernel_dead, kernel_restarting.
    """

    async def execute(self, path: str, code: str, progress: Callable[[str], None]) -> CellRun:
        """Runs code beside the cells: no cell and no history has it. Cancelling interrupts the kernel.

        Raises: NotebookError (kernel_died while it ran).
        """
        ...

    async def interrupt(self, path: str) -> None:
        """Stops what runs in the kernel; its variables stay."""
        ...

    async def restart(self, path: str) -> None:
        """A new process in place of the old one, also of a dead one; the session stays, the variables are gone.

        Raises: NotebookError (kernel_dead where no new one comes up).
        """
        ...
