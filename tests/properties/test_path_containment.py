import asyncio
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.errors import OnyxError, PathNotAllowed
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.testing.fake_clock import FakeClock

PARTS = st.sampled_from(
    ["..", ".", "", "a", "sub", "link_out", "link_in", "loop", "~", "x.md", "MEMORY.md", "memory", "\0"]
)
PATHS = st.builds(
    lambda prefix, parts, tail: prefix + "/".join([*parts, tail]),
    st.sampled_from(["", "/", "onyx:", "onyx:/", "{root}/", "{workspace}/", "{outside}/", "//", "./"]),
    st.lists(PARTS, max_size=6),
    st.one_of(PARTS, st.text(max_size=8)),
)


def folders(base: Path) -> tuple[Path, Path, Path]:
    """A root, a workspace and a place outside, with links between them that try to lead out."""
    root, workspace, outside = (base / name for name in ("root", "workspace", "outside"))
    for folder in (root / "sub", workspace / "memory", outside):
        folder.mkdir(parents=True)
    (outside / "x.md").write_text("secret")
    for folder in (root, workspace, root / "sub"):
        (folder / "link_out").symlink_to(outside)
        (folder / "link_in").symlink_to(root / "sub")
        (folder / "loop").symlink_to(folder / "loop")
    return root, workspace, outside


@given(path=PATHS)
def test_resolved_path_never_leaves_allowed_roots(path: str) -> None:
    """Property 5: Workspace path containment."""
    with tempfile.TemporaryDirectory() as base:
        root, workspace, outside = folders(Path(base).resolve())
        guard = PathGuard(root, workspace)
        try:
            real = guard.resolve(path.format_map({"root": root, "workspace": workspace, "outside": outside}))
        except (PathNotAllowed, KeyError, ValueError, IndexError):  # the last three: braces of the text itself
            return
        assert real == real.resolve()
        assert real.is_relative_to(root) or real.is_relative_to(workspace)


@given(path=PATHS)
def test_contents_api_path_stays_under_server_root(path: str) -> None:
    """Property 5: Workspace path containment."""
    with tempfile.TemporaryDirectory() as base:
        root, workspace, _ = folders(Path(base).resolve())
        try:
            name = PathGuard(root, workspace).api_path(path)
        except PathNotAllowed:
            return
        assert not name.startswith("/")
        assert ".." not in name.split("/")
        assert (root / name).resolve().is_relative_to(root)


@given(
    target=st.one_of(PATHS, st.sampled_from(["MEMORY.md", "MEMORY.md#A", "memory/2026-01-02.md"])), content=st.text()
)
def test_memory_is_written_only_in_workspace(target: str, content: str) -> None:
    """Property 5: Workspace path containment."""
    with tempfile.TemporaryDirectory() as base:
        root, workspace, outside = folders(Path(base).resolve())
        memory = MemoryFiles(workspace, FakeClock())
        try:
            written = asyncio.run(memory.write(content, target))
        except OnyxError:
            written = None
        assert written is None or (workspace / written).read_text(encoding="utf-8").strip()
        assert sorted(file.name for file in outside.iterdir()) == ["x.md"]
        assert (outside / "x.md").read_text() == "secret"
        assert sorted(file.name for file in root.iterdir()) == ["link_in", "link_out", "loop", "sub"]
