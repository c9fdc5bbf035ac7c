"""The kernels of notebooks, by the notebook's path: their variables, and scratch code. Cells play no part here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from onyx_jupyter.protocols.notebooks import CellRun

VariableKind = Literal["frame", "array", "object", "container", "text", "value", "function", "class", "module"]


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable in a line. `size_bytes` is the size of its data, if the library that made it says so."""

    name: str
    kind: VariableKind
    type: str
    summary: str
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class KernelVariables:
    """The user's variables: frames and arrays first, then the newest.

    `left_out` counts, by type, those that did not fit; functions, classes and modules are only counted, over the whole
    kernel, unless they were requested.
    """

    variables: tuple[Variable, ...]
    left_out: Mapping[str, int]
    functions: int
    classes: int
    modules: int


@dataclass(frozen=True, slots=True)
class InspectionTable:
    """A small table: the columns of a frame, its first rows, the entries of a dictionary."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Inspection:
    """Everything reported about a variable. `text`: a docstring, or the start of a text; `notes`: parts not read."""

    type: str
    kind: VariableKind
    summary: str
    facts: tuple[tuple[str, str], ...] = ()
    tables: tuple[InspectionTable, ...] = ()
    notes: tuple[str, ...] = ()
    text: str = ""


class Kernels(Protocol):
    """The running kernels of notebooks, whether open in a tab or not; none is started here.

    Every call raises NotebookError: no_kernel if the notebook has no running one, kernel_dead, kernel_restarting.
    """

    async def variables(
        self, path: str, pattern: str | None = None, *, functions: bool = False, most: int = 300
    ) -> KernelVariables:
        """The user's variables, also while a cell runs; at most `most`, with names that contain or match `pattern`.

        Nothing in the kernel changes: no name, no output, no history. Raises: NotebookError (not_python, kernel_busy,
        too_slow).
        """
        ...

    async def inspect(self, path: str, name: str) -> Inspection:
        """One variable, or the value of an attribute path or constant keys (`model.coef_`, `data["key"]`).

        Raises: NotebookError as `variables` does, and no_variable.
        """
        ...

    async def language(self, path: str, kernel_name: str | None) -> str:
        """The language of a kernel of that name, in lower case, running or not; None is the server's default.

        Raises: NotebookError (no_kernel if it is not installed).
        """
        ...

    async def executed(self, path: str) -> Mapping[int, str]:
        """Execution count → `cell_hash` of the source that ran under it, without trailing line ends.

        Raises: NotebookError as `variables` does.
        """
        ...

    async def lacking(self, path: str, packages: Sequence[str]) -> frozenset[str]:
        """Which of these packages the kernel would not find; none is imported.

        Raises: NotebookError as `variables` does.
        """
        ...

    async def execute(self, path: str, code: str, progress: Callable[[str], None]) -> CellRun:
        """Runs code outside of any cell and of the history. Cancelling interrupts the kernel.

        Raises: NotebookError (kernel_died if the kernel died meanwhile).
        """
        ...

    async def restart(self, path: str) -> None:
        """Replaces the process, also a dead one; the Jupyter session stays, the variables are gone.

        Raises: NotebookError (kernel_dead if no new one comes up).
        """
        ...

    async def is_same_kernel(self, path: str, other: str) -> bool:
        """Whether both notebooks use the same kernel; false if one has none. Raises nothing."""
        ...
