import threading
from pathlib import Path

import filelock._unix as filelock_unix
import pytest

from onyx_jupyter.errors import StorageError
from onyx_jupyter.storage import shared_lock
from onyx_jupyter.storage.lance_collection import FollowingLock
from onyx_jupyter.storage.shared_lock import SharedLock


def test_lock_held_too_long_is_reported_and_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_lock, "THREADS_S", 0.05)
    lock, holds, go = SharedLock(tmp_path / "x.json"), threading.Event(), threading.Event()

    def hold() -> None:
        with lock.held():
            holds.set()
            go.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()
    try:
        with pytest.raises(StorageError, match=r"x\.json could not be changed"), lock.held():
            pass
    finally:
        go.set()
        thread.join()
    with lock.held(), lock.held():
        pass


def test_long_work_has_one_owner_at_a_time(tmp_path: Path) -> None:
    file = tmp_path / "index" / "x.following.lock"
    one, other = FollowingLock(file), FollowingLock(file)
    assert one.take()
    assert not other.take()
    other.release_lock()
    assert not FollowingLock(file).take()
    one.release_lock()
    late = FollowingLock(file)
    late.release_lock()
    assert not late.take(), "its owner has left, and would never give it back"
    assert FollowingLock(file).take()


def test_cancelled_owner_keeps_lock_until_its_work_ends(tmp_path: Path) -> None:
    file = tmp_path / "index" / "x.following.lock"
    lock, done = FollowingLock(file), list[str]()

    def work() -> None:
        lock.release_lock()
        assert not FollowingLock(file).take()
        done.append("work")

    assert lock.take()
    lock.during(work)
    lock.during(lambda: done.append("later"))
    assert done == ["work"], "nothing is begun without the lock"
    assert FollowingLock(file).take()


def test_folder_deleted_while_locking_is_recreated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, made = tmp_path / "index", shared_lock.make_private_folder
    deleted: list[Path] = []

    def make_and_lose(path: Path) -> None:
        made(path)
        if len(deleted) < 2:
            path.rmdir()
            deleted.append(path)

    monkeypatch.setattr(shared_lock, "make_private_folder", make_and_lose)
    monkeypatch.setattr(filelock_unix, "ensure_directory_exists", lambda path: None)
    with SharedLock(folder / "x.json").held():
        assert (folder / "x.lock").exists()
    assert deleted == [folder, folder]
