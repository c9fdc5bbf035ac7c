"""Which executed copies go and which stay, as they lie in their folder."""

import os
from pathlib import Path

import pytest

from onyx_jupyter.skills.run_record import ID_CHARS, RunFolder, RunRecord, Status
from onyx_jupyter.skills.run_retention import DAY_S, RunLimits, prune_runs

NOW = 1_800_000_000.0
NO_LIMIT = 10**12


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


def kept(folder: RunFolder, letter: str, days: float, *, size: int = 1000, status: Status = "ok") -> RunRecord:
    """A run whose files were last written that many days ago; its copy has that size."""
    record = RunRecord(
        run_id=letter * ID_CHARS,
        skill="count-lines",
        skill_hash="h",
        skill_path="count-lines.ipynb",
        parameters={},
        started_at="2026-11-22T08:00:00Z",
        by="user:ada",
        status=status,
    )
    folder.write(record)
    folder.copy_path(record).write_text("x" * size)
    for path in folder.files(record.stem):
        os.utime(path, (NOW - days * DAY_S, NOW - days * DAY_S))
    return record


def letters(folder: RunFolder) -> str:
    """The runs of which anything is left, the oldest first."""
    return "".join(sorted({stem[0] for stem in folder.stems()}))


def test_oldest_are_deleted_down_to_maximum_number(folder: RunFolder) -> None:
    for letter, days in zip("ABCD", (40, 30, 20, 10), strict=True):
        kept(folder, letter, days)
    assert prune_runs(folder, RunLimits(2, NO_LIMIT), NOW) == 2
    assert letters(folder) == "CD"
    assert prune_runs(folder, RunLimits(2, NO_LIMIT), NOW) == 0


def test_oldest_are_deleted_down_to_maximum_size(folder: RunFolder) -> None:
    for letter, size in zip("ABCD", (100, 90_000, 5_000, 5_000), strict=True):
        kept(folder, letter, 10, size=size)
    assert prune_runs(folder, RunLimits(100, 50_000), NOW) == 2
    assert letters(folder) == "CD"


def test_active_and_recent_runs_stay_whatever_the_limits(folder: RunFolder) -> None:
    kept(folder, "A", 40, status="running")
    kept(folder, "B", 0.99)
    kept(folder, "C", 1.01)
    kept(folder, "D", -1)
    assert prune_runs(folder, RunLimits(1, 1), NOW) == 1
    assert letters(folder) == "ABD"


def test_recently_edited_copy_of_old_run_stays(folder: RunFolder) -> None:
    touched = kept(folder, "A", 40)
    os.utime(folder.copy_path(touched), (NOW - 60, NOW - 60))
    kept(folder, "B", 30)
    assert prune_runs(folder, RunLimits(1, NO_LIMIT), NOW) == 1
    assert letters(folder) == "A"


def test_other_files_are_neither_counted_nor_touched(folder: RunFolder, tmp_path: Path) -> None:
    old = kept(folder, "A", 40)
    own = [tmp_path / name for name in ("mine.ipynb", f"{old.stem}-Copy1.ipynb", "notes.json", f"{old.stem}.txt")]
    # Named as a run could be, but it says itself that it is the copy of another one.
    renamed = tmp_path / f"{old.stem}-kept.ipynb"
    renamed.write_text(f'{{"metadata": {{"onyx": {{"run": {old.model_dump_json(by_alias=True)}}}}}}}')
    for path in own:
        path.write_text("x" * 9000)
    for path in (*own, renamed):
        os.utime(path, (NOW - 90 * DAY_S, NOW - 90 * DAY_S))
    assert prune_runs(folder, RunLimits(1, 1), NOW) == 1
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in (*own, renamed)}


def test_remains_of_damaged_run_are_deleted(folder: RunFolder) -> None:
    damaged = kept(folder, "A", 40)
    folder.files(damaged.stem)[0].write_text("{")
    os.utime(folder.files(damaged.stem)[0], (NOW - 40 * DAY_S, NOW - 40 * DAY_S))
    alone = kept(folder, "B", 30)
    folder.copy_path(alone).unlink()
    kept(folder, "C", 20)
    assert prune_runs(folder, RunLimits(1, NO_LIMIT), NOW) == 2
    assert letters(folder) == "C"


def test_without_runs_nothing_happens(tmp_path: Path) -> None:
    assert prune_runs(RunFolder(tmp_path / "none"), RunLimits(1, 1), NOW) == 0
