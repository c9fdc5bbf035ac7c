"""Fixtures and settings for every test."""

import faulthandler
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from anyio._backends._asyncio import WorkerThread
from hypothesis import HealthCheck, settings

from onyx_jupyter.clock import SystemClock
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.testing.no_real_providers import no_real_providers
from onyx_jupyter.toolsets.context import ToolContext
from tests.left_open import close_all

END_S = 60

# Servers and kernels that tests start are new processes: without bytecode on disk each compiles what it imports anew,
# which takes longer than the rest of their start. Some images switch it off for what runs once.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# The keyring of whoever runs the tests stays as it is.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"

# A machine that is busy is no reason for a property to fail: nothing is timed. `make security` looks longer.
settings.register_profile("quick", max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(scope="session", autouse=True)
def no_provider_outside_this_machine():
    """A test that reaches for a paid provider fails with words instead of a bill."""
    with no_real_providers():
        yield


@pytest.fixture(autouse=True)
def nothing_stays_open():
    """However the test ends."""
    yield
    close_all()


def pytest_unconfigure():
    """A process that does not end by itself says which of its threads is to blame, and ends as a failure.

    Jupyter reads and writes files in AnyIO's threads. They are no daemons and wait for the end of the loop's first
    task, which never comes where a test's loop is closed under a server: they are told here.
    """
    for thread in threading.enumerate():
        if isinstance(thread, WorkerThread):
            thread.queue.put_nowait(None)
    faulthandler.dump_traceback_later(END_S, exit=True, file=sys.__stderr__)


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
