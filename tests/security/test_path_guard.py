from pathlib import Path

import pytest

from onyx_jupyter.errors import PathNotAllowed
from onyx_jupyter.security.path_guard import PathGuard


@pytest.fixture
def guard(tmp_path: Path) -> PathGuard:
    (tmp_path / "root").mkdir()
    (tmp_path / "workspace").mkdir()
    return PathGuard(tmp_path / "root", tmp_path / "workspace")


def test_paths_mean_what_the_file_browser_means(guard: PathGuard) -> None:
    assert guard.resolve("data/x.csv") == guard.server_root / "data" / "x.csv"
    assert guard.resolve("onyx:MEMORY.md") == guard.workspace / "MEMORY.md"
    assert guard.resolve(str(guard.server_root / "x")) == guard.server_root / "x"
    assert guard.resolve("") == guard.server_root


@pytest.mark.parametrize("path", ["..", "../x", "/etc/passwd", "onyx:../x", "a/../../x", "a\0b", "~/../../x/../../.."])
def test_escaping_paths_are_rejected(guard: PathGuard, path: str) -> None:
    with pytest.raises(PathNotAllowed):
        guard.resolve(path)


def test_folder_with_same_name_prefix_is_outside(guard: PathGuard) -> None:
    twin = guard.server_root.with_name("root-twin")
    twin.mkdir()
    with pytest.raises(PathNotAllowed):
        guard.resolve(str(twin / "x"))


def test_links_are_judged_by_their_targets(guard: PathGuard, tmp_path: Path) -> None:
    (guard.server_root / "out").symlink_to(tmp_path)
    (guard.server_root / "in").symlink_to(guard.workspace)
    (guard.server_root / "loop").symlink_to(guard.server_root / "loop")
    assert guard.resolve("in/MEMORY.md") == guard.workspace / "MEMORY.md"
    for path in ("out/x", "loop", "loop/x", "loop/../out", "loop/../out/x"):
        with pytest.raises(PathNotAllowed):
            guard.resolve(path)


def test_contents_api_gets_only_posix_paths_inside_server_root(guard: PathGuard) -> None:
    assert guard.api_path("a/./b/../n.ipynb") == "a/n.ipynb"
    with pytest.raises(PathNotAllowed, match="server's root"):
        guard.api_path("onyx:n.ipynb")
