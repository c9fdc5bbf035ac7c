"""A file is replaced completely or not at all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from onyx_jupyter.errors import StorageError
from onyx_jupyter.storage.atomic_write import make_private_folder, write_text_atomically
from tests.storage.full_disk import file_size_limit

SIZE = 4_000_000
WRITE_FOREVER = """
import sys
from pathlib import Path
from onyx_jupyter.storage.atomic_write import write_text_atomically
path, letters = Path(sys.argv[1]), "ab"
write_text_atomically(path, letters[0] * {size})
print("ready", flush=True)
while True:
    for letter in letters:
        write_text_atomically(path, letter * {size})
        print(letter, flush=True)
"""


@pytest.mark.parametrize("writes_before_the_kill", [0, 1, 3, 6])
def test_kill_midway_leaves_old_or_new_content(tmp_path, writes_before_the_kill):
    path = tmp_path / "file.txt"
    command = [sys.executable, "-c", WRITE_FOREVER.format(size=SIZE), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for _ in range(writes_before_the_kill + 1):
            assert writer.stdout.readline().strip()
        writer.kill()
    assert path.read_text() in ("a" * SIZE, "b" * SIZE)


def test_new_content_replaces_old_without_leftovers(tmp_path):
    path = tmp_path / "file.txt"
    write_text_atomically(path, "one\r\ntwo\n")
    write_text_atomically(path, "grün 😀\r\n")
    assert path.read_bytes() == "grün 😀\r\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_new_file_is_private_and_existing_one_keeps_its_mode(tmp_path):
    old_umask = os.umask(0)
    try:
        new, existing = tmp_path / "new", tmp_path / "existing"
        existing.touch()
        existing.chmod(0o640)
        write_text_atomically(new, "x")
        write_text_atomically(existing, "x")
    finally:
        os.umask(old_umask)
    assert new.stat().st_mode & 0o777 == 0o600
    assert existing.stat().st_mode & 0o777 == 0o640


def test_new_folders_are_private_and_existing_ones_unchanged(tmp_path):
    tmp_path.chmod(0o755)
    make_private_folder(tmp_path / "a" / "b")
    make_private_folder(tmp_path / "a" / "b")
    assert [folder.stat().st_mode & 0o777 for folder in (tmp_path, tmp_path / "a", tmp_path / "a" / "b")] == [
        0o755,
        0o700,
        0o700,
    ]


def test_full_disk_keeps_old_content_with_readable_error(tmp_path):
    path = tmp_path / "file.txt"
    write_text_atomically(path, "before")
    with file_size_limit(1000), pytest.raises(StorageError) as caught:
        write_text_atomically(path, "x" * 100_000)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    assert str(path) in str(caught.value)
    assert "maximum size" in str(caught.value)
    assert caught.value.hint


def test_unencodable_text_keeps_old_content(tmp_path):
    path = tmp_path / "file.txt"
    write_text_atomically(path, "before")
    with pytest.raises(UnicodeEncodeError):
        write_text_atomically(path, "\ud83d")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_missing_folder_is_a_storage_error(tmp_path):
    with pytest.raises(StorageError, match="Could not write"):
        write_text_atomically(tmp_path / "missing" / "file.txt", "x")


def test_file_in_place_of_folder_is_a_storage_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="Could not create"):
        make_private_folder(Path(tmp_path / "file" / "below"))
