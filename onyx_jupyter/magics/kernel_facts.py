"""What a kernel knows about itself: its id, its notebook, the folder it runs in."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SESSION_NAME = "JPY_SESSION_NAME"
VSCODE_NAME = "__vsc_ipynb_file__"
_UNKNOWN_ID = uuid.uuid4().hex


@dataclass(frozen=True)
class KernelFacts:
    """`kernel_id` is the server's own if a server started the kernel; `notebook` is None if unknown."""

    kernel_id: str
    notebook: Path | None
    folder: Path

    @property
    def place(self) -> Path:
        """The path for finding a server whose root contains it."""
        return self.notebook if self.notebook is not None and self.notebook.is_absolute() else self.folder

    @property
    def title(self) -> str:
        """The title of its session."""
        return self.notebook.name if self.notebook is not None else f"Cells in {self.folder.name or self.folder}"

    @property
    def as_sender(self) -> dict[str, str]:
        """`fromKernel` of a message."""
        return {"kernelId": self.kernel_id, **({"name": self.notebook.name} if self.notebook is not None else {})}


def kernel_facts(shell: Any, environment: Mapping[str, str] = os.environ) -> KernelFacts:
    """The facts of the kernel behind this shell."""
    name = environment.get(SESSION_NAME) or str(shell.user_ns.get(VSCODE_NAME) or "")
    notebook = Path(name.replace("RTC:", "", 1)) if name else None
    return KernelFacts(_kernel_id(shell), notebook, Path.cwd())


def _kernel_id(shell: Any) -> str:
    """From the connection file, `kernel-<id>.json`; a generated one if a shell has none."""
    application = getattr(getattr(shell, "kernel", None), "parent", None)
    file = Path(str(getattr(application, "connection_file", "") or "")).name
    found = re.fullmatch(r"kernel-([\w-]+)\.json", file)
    return found[1] if found else _UNKNOWN_ID
