"""Paths of Onyx's drive, there and back, and how they meet the other ways to write the same file."""

from pathlib import Path

import pytest

from onyx_jupyter.errors import PathNotAllowed
from onyx_jupyter.notebook.paths import NotebookPaths
from onyx_jupyter.security.drive_folders import DriveFolder, DriveFolders, browser_paths
from onyx_jupyter.security.path_guard import PathGuard


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("workspace", "runs", "sessions"):
        (tmp_path / "home" / name).mkdir(parents=True)
    (tmp_path / "root").mkdir()
    return tmp_path / "home"


@pytest.fixture
def drive(home: Path) -> DriveFolders:
    folders = {"workspace": "workspace", "runs": "runs", "talks": "sessions", "all": "."}
    return DriveFolders(
        home, frozenset({"sessions"}), lambda: {name: DriveFolder(home / place) for name, place in folders.items()}
    )


def test_drive_paths_round_trip(drive: DriveFolders, home: Path) -> None:
    for path in ("Onyx:workspace/a/b.md", "Onyx:runs", "Onyx:runs/x.ipynb"):
        real = drive.real(path)
        assert real == home / path.removeprefix("Onyx:")
        assert drive.shown(real) == path
    assert drive.real("/workspace/./a/../b.md/") == home / "workspace/b.md"
    assert drive.shown(home / "onyx.json") is None
    assert drive.shown(home / "workspace/.env") is None


def test_home_and_private_parts_are_not_on_drive(drive: DriveFolders, home: Path) -> None:
    assert set(drive.all()) == {"workspace", "runs"}
    (home / "workspace" / "out").symlink_to(home)
    for path in ("sessions/x", "talks/x", "all/onyx.json", "workspace/../onyx.json", "workspace/out/onyx.json", ""):
        assert drive.real(path) is None
    assert drive.real("workspace/\0") is None


def test_tab_tool_and_kernel_mean_the_same_notebook(drive: DriveFolders, home: Path, tmp_path: Path) -> None:
    paths = NotebookPaths(tmp_path / "root", drive)
    (tmp_path / "root" / "link").symlink_to(home / "workspace")
    assert paths.canonical("Onyx:workspace/n.ipynb") == "Onyx:workspace/n.ipynb"
    assert paths.canonical("link/n.ipynb") == "Onyx:workspace/n.ipynb"
    assert paths.canonical("Onyx:workspace/../../n.ipynb") == "Onyx:workspace/../../n.ipynb"
    assert paths.canonical("n.ipynb") == "n.ipynb"
    shown_by_jupyter = NotebookPaths(tmp_path, drive)
    assert shown_by_jupyter.canonical("Onyx:workspace/n.ipynb") == "home/workspace/n.ipynb"


def test_tools_accept_drive_paths_within_their_roots(drive: DriveFolders, home: Path, tmp_path: Path) -> None:
    guard = PathGuard(tmp_path / "root", home / "workspace", private=home, drive=drive)
    assert guard.resolve("Onyx:workspace/n.ipynb") == guard.resolve("onyx:n.ipynb") == home / "workspace/n.ipynb"
    assert guard.api_path("onyx:n.ipynb") == "Onyx:workspace/n.ipynb"
    assert guard.api_path("Onyx:workspace/n.ipynb") == "Onyx:workspace/n.ipynb"
    assert guard.api_path("n.ipynb") == "n.ipynb"
    for path in ("Onyx:runs/n.ipynb", "Onyx:sessions/x", "Onyx:workspace/../onyx.json", "Onyx:", "Onyx:nothing"):
        with pytest.raises(PathNotAllowed):
            guard.resolve(path)


def test_many_paths_need_one_folder_lookup(home: Path, tmp_path: Path) -> None:
    looks: list[int] = []

    def folders() -> dict[str, DriveFolder]:
        looks.append(1)
        return {"runs": DriveFolder(home / "runs")}

    drive = DriveFolders(home, frozenset(), folders)
    root = tmp_path / "root"
    reals = [*(home / "runs" / f"{number}.ipynb" for number in range(50)), root / "n.ipynb", root / ".onyx" / "s.ipynb"]
    paths = browser_paths(reals, root, drive)
    assert paths[:2] + paths[-2:] == ["Onyx:runs/0.ipynb", "Onyx:runs/1.ipynb", "n.ipynb", None]
    assert len(looks) == 1
    assert browser_paths([root / "n.ipynb"], root, drive) == ["n.ipynb"]
    assert len(looks) == 1
