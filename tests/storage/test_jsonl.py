"""Append-only files: nothing written is lost, whatever happened to the last line."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.errors import StorageError
from onyx_jupyter.storage.jsonl import append_line, read_lines
from tests.storage.full_disk import file_size_limit

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=8), JSON_VALUES, max_size=4)


@given(st.lists(OBJECTS, min_size=1, max_size=6))
def test_appended_lines_are_read_back_in_order(tmp_path_factory, items):
    path = tmp_path_factory.mktemp("lines") / "file.jsonl"
    for item in items:
        append_line(path, item)
    lines = read_lines(path)
    assert list(lines.objects) == items
    assert lines.damaged == ()
    assert path.read_bytes().count(b"\n") == len(items)


@given(st.lists(OBJECTS, min_size=2, max_size=4), st.data())
def test_truncation_at_any_byte_loses_at_most_one_line(tmp_path_factory, items, data):
    path = tmp_path_factory.mktemp("cut") / "file.jsonl"
    for item in items:
        append_line(path, item)
    raw = path.read_bytes()
    cut = data.draw(st.integers(1, len(raw) - 1))
    path.write_bytes(raw[:cut])
    whole = raw[:cut].count(b"\n")
    append_line(path, {"after": "the cut"})
    objects = list(read_lines(path).objects)
    assert objects[:whole] == items[:whole]
    assert objects[-1] == {"after": "the cut"}
    assert path.read_bytes().startswith(raw[:cut])


def test_torn_last_line_is_counted_and_never_joined_to_the_next(tmp_path):
    path = tmp_path / "file.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":2,"text":"to')
    append_line(path, {"n": 3})
    lines = read_lines(path)
    assert lines.objects == ({"n": 1}, {"n": 3})
    assert lines.damaged == (2,)
    assert path.read_bytes() == b'{"n":1}\n{"n":2,"text":"to\n{"n":3}\n'


@pytest.mark.parametrize(
    "line", [b"not json", b"[1]", b"3", b'"text"', b"null", b"\xff\xfe", b"[" * 50_000, b'{"a":' * 50_000, b"1" * 9_000]
)
def test_invalid_line_is_skipped_and_others_are_read(tmp_path, line):
    path = tmp_path / "file.jsonl"
    path.write_bytes(b'{"n":1}\n' + line + b'\n\n{"n":2}\n')
    lines = read_lines(path)
    assert lines.objects == ({"n": 1}, {"n": 2})
    assert lines.damaged == (2,)


@pytest.mark.parametrize("text", ["\ud83d", "\ud83d and \ude00", "a\u2028b\u0085c\x00\x1f", "😀 grün\r\n\t"])
def test_any_text_is_one_line_of_valid_utf8(tmp_path, text):
    path = tmp_path / "file.jsonl"
    append_line(path, {"text": text})
    raw = path.read_bytes()
    assert raw.count(b"\n") == 1
    assert json.loads(raw.decode("utf-8")) == {"text": text}
    assert read_lines(path).objects == ({"text": text},)


def test_new_file_is_private(tmp_path):
    path = tmp_path / "file.jsonl"
    old_umask = os.umask(0)
    try:
        append_line(path, {})
    finally:
        os.umask(old_umask)
    assert path.stat().st_mode & 0o777 == 0o600


def test_full_disk_leaves_file_unchanged_with_readable_error(tmp_path):
    path = tmp_path / "file.jsonl"
    append_line(path, {"n": 1})
    before = path.read_bytes()
    with file_size_limit(len(before) + 100), pytest.raises(StorageError) as caught:
        append_line(path, {"text": "x" * 10_000})
    assert path.read_bytes() == before
    assert str(path) in str(caught.value)
    assert "maximum size" in str(caught.value)
    append_line(path, {"n": 2})
    assert read_lines(path).objects == ({"n": 1}, {"n": 2})


def test_missing_file_is_a_storage_error(tmp_path):
    with pytest.raises(StorageError, match="Could not read"):
        read_lines(tmp_path / "nothing.jsonl")


APPEND_FOREVER = """
import sys
from pathlib import Path
from onyx_jupyter.storage.jsonl import append_line
number = 0
while True:
    append_line(Path(sys.argv[1]), {"n": number, "text": "x" * 200_000})
    print(number, flush=True)
    number += 1
"""


def test_kill_while_appending_keeps_every_confirmed_line(tmp_path):
    path = tmp_path / "file.jsonl"
    with subprocess.Popen([sys.executable, "-c", APPEND_FOREVER, str(path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        reported = [int(writer.stdout.readline()) for _ in range(20)]
        writer.kill()
    numbers = [item["n"] for item in read_lines(path).objects]
    assert numbers[: len(reported)] == reported
    append_line(path, {"n": "after"})
    assert read_lines(path).objects[-1] == {"n": "after"}
