from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.clock import SystemClock
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.tools.context import ToolContext


@pytest.fixture
def make_context(tmp_path: Path) -> Callable[..., ToolContext]:
    """Builds a context over two real folders, `root` and `workspace`; keyword arguments replace its parts."""

    def make(**parts: Any) -> ToolContext:
        root, workspace = tmp_path / "root", tmp_path / "workspace"
        root.mkdir(exist_ok=True)
        workspace.mkdir(exist_ok=True)
        clock = SystemClock()
        defaults: dict[str, Any] = {
            "session_key": "s",
            "agent_id": "main",
            "run_id": "r",
            "call_id": "c",
            "workspace": workspace,
            "server_root": root,
            "paths": PathGuard(root, workspace),
            "notebooks": None,
            "memory": MemoryFiles(workspace, clock),
            "clock": clock,
            "timeout_s": 30.0,
            "max_output_bytes": 100_000,
            "progress": lambda line: None,
        }
        return ToolContext(**(defaults | parts))

    return make
