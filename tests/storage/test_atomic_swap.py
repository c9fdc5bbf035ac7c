"""Replacing a file while somebody saves it at the same moment."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from onyx_jupyter.security.open_beneath import folder_beneath
from onyx_jupyter.storage import atomic_swap as module
from onyx_jupyter.storage.atomic_swap import UNFINISHED, Check, leftover_of, leftovers, put_back, swap, take_place
from onyx_jupyter.storage.atomic_write import write_bytes_atomically


class Changed(Exception):
    """What is replaced is not what it should be."""


class Expected:
    """Lets `content` be replaced and nothing else; at its calls somebody does what is next in `meanwhile`."""

    def __init__(self, content: bytes | None, *meanwhile: Callable[[], object]) -> None:
        self.content = content
        self.meanwhile = list(meanwhile)

    def __call__(self, now: bytes | None) -> None:
        if self.meanwhile:
            self.meanwhile.pop(0)()
        if now != self.content:
            raise Changed


def by_a_rename(file: Path, text: str) -> None:
    other = file.with_name("other")
    other.write_text(text)
    other.replace(file)


@contextmanager
def names(file: Path, *, in_open_folder: bool) -> Iterator[tuple[str, str, int | None]]:
    """The temporary's name, the file's, and the folder in which they are names."""
    temporary = file.with_name(f".{file.name}.x{UNFINISHED}")
    temporary.write_text("ours")
    if not in_open_folder:
        yield str(temporary), str(file), None
        return
    descriptor = os.open(file.parent, os.O_RDONLY)
    try:
        yield temporary.name, file.name, descriptor
    finally:
        os.close(descriptor)


def in_its_open_folder(file: Path, data: bytes, check: Check | None = None) -> None:
    with folder_beneath(file.parent, file.parent) as folder:
        folder.replace(file.name, data, 0o600, check=check)


@pytest.fixture(params=[True, False], ids=["open folder", "paths"])
def in_open_folder(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "MEMORY.md"
    file.write_text("before")
    return file


def taken(file: Path, expected: Expected, in_open_folder: bool) -> None:
    with names(file, in_open_folder=in_open_folder) as (temporary, name, folder):
        take_place(temporary, name, b"ours", expected, dir_fd=folder)


def left(file: Path) -> list[str]:
    """What lies beside the file, under names by which it is found again."""
    return [one.place.read_text() for one in leftovers(file.parent) if one.file == file and one.may_be_owed]


def needs_swap(file: Path) -> None:
    (file.parent / "one").touch()
    if not swap(str(file.parent / "one"), str(file)) or not swap(str(file.parent / "one"), str(file)):
        pytest.skip("this disk cannot swap two names")
    (file.parent / "one").unlink()


@pytest.mark.parametrize("can_swap", [True, False])
def test_new_file_replaces_old_one_without_leftovers(
    file: Path, in_open_folder: bool, can_swap: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not can_swap:
        monkeypatch.setattr(module, "_renaming", lambda: None)
    taken(file, Expected(b"before"), in_open_folder)
    assert file.read_text() == "ours"
    file.unlink()
    taken(file, Expected(None), in_open_folder)
    assert file.read_text() == "ours"
    assert list(file.parent.iterdir()) == [file]
    with pytest.raises(Changed):
        taken(file, Expected(b"before"), in_open_folder)
    assert file.read_text() == "ours"


@pytest.mark.parametrize("save", [by_a_rename, Path.write_text])
def test_saves_after_check_and_over_new_file_are_kept(
    file: Path, in_open_folder: bool, save: Callable[[Path, str], object]
) -> None:
    needs_swap(file)
    with pytest.raises(Changed):
        taken(file, Expected(b"before", lambda: save(file, "by hand")), in_open_folder)
    assert file.read_text() == "by hand"
    assert list(file.parent.iterdir()) == [file]
    saves = (lambda: save(file, "once more"), lambda: save(file, "and again"))
    with pytest.raises(Changed):
        taken(file, Expected(b"by hand", *saves), in_open_folder)
    assert file.read_text() == "and again"
    assert left(file) == ["once more"]


def test_save_whose_name_is_removed_meanwhile_is_kept(file: Path, in_open_folder: bool) -> None:
    needs_swap(file)
    saves = (lambda: file.write_text("by hand"), file.unlink)
    with pytest.raises(Changed):
        taken(file, Expected(b"before", *saves), in_open_folder)
    assert not file.exists()
    assert left(file) == ["by hand"]


def test_save_during_restore_of_another_save_wins(
    file: Path, in_open_folder: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_swap(file)
    swaps: list[str] = []

    def interrupted(one: str, other: str, dir_fd: int | None) -> bool:
        swaps.append(one)
        if len(swaps) == 2:
            by_a_rename(file, "newest")
        return swap(one, other, dir_fd)

    monkeypatch.setattr(module, "swap", interrupted)
    with pytest.raises(Changed):
        taken(file, Expected(b"before", lambda: file.write_text("by hand")), in_open_folder)
    assert (file.read_text(), left(file)) == ("newest", ["by hand"])


@pytest.mark.parametrize("trouble", ["an error", "no swap any more"])
def test_save_that_cannot_be_restored_is_kept_and_restored_later(
    file: Path, in_open_folder: bool, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_swap(file)

    def cannot(*arguments: object) -> bool:
        if trouble == "an error":
            raise OSError(errno.EIO, "the disk fails")
        return False

    saves = (lambda: file.write_text("by hand"), lambda: monkeypatch.setattr(module, "swap", cannot))
    with pytest.raises(Changed):
        taken(file, Expected(b"before", *saves), in_open_folder)
    assert (file.read_text(), left(file)) == ("ours", ["by hand"])
    monkeypatch.undo()
    (one,) = leftovers(file.parent)
    assert put_back(str(one.place), str(one.file))
    assert file.read_text() == "by hand"
    assert list(file.parent.iterdir()) == [file]


LONG = ["x" * 110, "記" * 73, "x" * 220, "x" * 237, "記" * 85]


@pytest.mark.parametrize("name", LONG, ids=lambda name: str(len(name.encode())))
@pytest.mark.parametrize("write", [write_bytes_atomically, in_its_open_folder])
def test_concurrent_save_is_kept_for_any_name_length(tmp_path: Path, name: str, write: Callable[..., None]) -> None:
    file = tmp_path / name
    write(file, b"before")
    write(file, b"written", check=Expected(b"before"))
    assert file.read_text() == "written"
    with pytest.raises(Changed):
        write(file, b"ours", check=Expected(b"before"))
    assert list(tmp_path.iterdir()) == [file]
    needs_swap(file)
    saves = (lambda: file.write_text("by hand"), lambda: file.write_text("and again"))
    with pytest.raises(Changed):
        write(file, b"ours", check=Expected(b"written", saves[0]))
    assert file.read_text() == "by hand"
    assert list(tmp_path.iterdir()) == [file]
    with pytest.raises(Changed):
        write(file, b"ours", check=Expected(b"by hand", lambda: file.write_text("once more"), saves[1]))
    assert sorted(place.read_text() for place in tmp_path.iterdir()) == ["and again", "once more"]


@pytest.mark.parametrize("name", LONG, ids=lambda name: str(len(name.encode())))
@pytest.mark.parametrize("write", [write_bytes_atomically, in_its_open_folder])
def test_leftover_is_never_mistaken_for_one_of_another_file(
    tmp_path: Path, name: str, write: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[str | None] = set()

    def look(now: bytes | None) -> None:
        seen.update(leftover_of(place.name) for place in tmp_path.iterdir() if place.name != name)

    write(tmp_path / name, b"ours", check=look)
    write(tmp_path / name, b"ours", check=look)
    assert seen == ({name} if len(name.encode()) < 220 else {None})


def test_file_created_or_deleted_after_check_stays_so(file: Path, in_open_folder: bool) -> None:
    with pytest.raises(Changed):
        taken(file, Expected(b"before", file.unlink), in_open_folder)
    assert not file.exists()
    with pytest.raises(Changed):
        taken(file, Expected(None, lambda: file.write_text("by hand")), in_open_folder)
    assert file.read_text() == "by hand"


def test_link_created_meanwhile_is_not_followed(file: Path, in_open_folder: bool, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("before")
    file.unlink()
    file.symlink_to(elsewhere)
    with pytest.raises(OSError, match="symbolic links"):
        taken(file, Expected(b"before"), in_open_folder)
    assert elsewhere.read_text() == "before"
    file.unlink()
    file.write_text("before")
    needs_swap(file)

    def linked() -> None:
        file.unlink()
        file.symlink_to(elsewhere)

    with pytest.raises(OSError, match="symbolic links"):
        taken(file, Expected(b"before", linked), in_open_folder)
    assert file.is_symlink(), "it stands there again"
    assert not left(file)


def test_other_swap_failures_are_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        swap(str(tmp_path / "one"), str(tmp_path / "other"))
