"""Session stores for tests: on a folder, with a clock that stands still until it is moved."""

from pathlib import Path

from onyx_jupyter.clock import IdSource
from onyx_jupyter.sessions.store import SessionStore
from onyx_jupyter.testing.fake_clock import FakeClock


def store_on(folder: Path, clock: FakeClock | None = None) -> SessionStore:
    """A store as one server has it: two on the same folder are two servers."""
    clock = clock or FakeClock()
    return SessionStore(folder, clock, IdSource(clock))


def file_of(folder: Path, session_key: str) -> Path:
    (path,) = folder.glob(f"*/{session_key}.jsonl")
    return path
