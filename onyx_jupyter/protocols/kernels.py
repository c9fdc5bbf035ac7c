"""The kernels of notebooks, by the notebook's path: what is in them, and scratch code. It never names a cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from onyx_jupyter.protocols.notebooks import CellRun

VariableKind = Literal["frame", "array", "object", "container", "text", "value", "function", "class", "module"]


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable in a line. `size_bytes` is what its data takes, where the library that made it says so."""

    name: str
    kind: VariableKind
    type: str
    summary: str
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class KernelVariables:
    """The user's variables: frames and arrays first, the newest first among equals.

    `left_out` counts, by type, those that there was no room for; functions, classes and modules are only counted, over
    the whole kernel, unless they were asked for.
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
    """All that is told of one variable. `text`: a docstring, or how a text begins; `notes`: what was not read."""

    type: str
    kind: VariableKind
    summary: str
    facts: tuple[tuple[str, str], ...] = ()
    tables: tuple[InspectionTable, ...] = ()
    notes: tuple[str, ...] = ()
    text: str = ""


class Kernels(Protocol):
    """The running kernels of notebooks, whether open in a tab or not; none is started here.

    Every call raises NotebookError: no_kernel where the notebook has none that runs, kernel_dead, kernel_restarting.
    """

    async def variables(
        self, path: str, pattern: str | None = None, *, functions: bool = False, most: int = 300
    ) -> KernelVariables:
        """What the user has defined, also while a cell runs; at most `most`, those whose name holds or fits `pattern`.

        Nothing in the kernel changes: no name, no output, no history. Raises: NotebookError (not_python, kernel_busy,
        too_slow).
        """
        ...

    async def inspect(self, path: str, name: str) -> Inspection:
        """One variable, or what an attribute path or constant keys lead to (`model.coef_`, `data["key"]`).

        Raises: NotebookError as `variables` does, and no_variable.
        """
        ...

    async def language(self, path: str, kernel_name: str | None) -> str:
        """What a kernel of that name speaks, in lower case, running or not; None is the server's default.

        Raises: NotebookError (no_kernel where it is not installed).
        """
        ...

    async def executed(self, path: str) -> Mapping[int, str]:
        """Execution count → `cell_hash` of the source that ran under it, without line ends at its end.

        Raises: NotebookError as `variables` does.
        """
        ...

    async def lacking(self, path: str, packages: Sequence[str]) -> frozenset[str]:
        """Which of these packages its kernel would not find to import; none is imported.

        Raises: NotebookError as `variables` does.
        """
        ...

    async def execute(self, path: str, code: str, progress: Callable[[str], None]) -> CellRun:
        """Runs code beside the cells: no cell and no history has it. Cancelling interrupts the kernel.

        Raises: NotebookError (kernel_died while it ran).
        """
        ...

    async def restart(self, path: str) -> None:
        """A new process in place of the old one, also of a dead one; the session stays, the variables are gone.

        Raises: NotebookError (kernel_dead where no new one comes up).
        """
        ...

    async def is_one(self, path: str, other: str) -> bool:
        """Whether both notebooks run in one and the same kernel. Raises nothing: where one has none, they do not."""
        ...
