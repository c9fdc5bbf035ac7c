"""The saved prompt of a model process: restored once, by the same model, or deleted."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from onyx_jupyter.providers.local_saved_prompt import SavedPrompt
from onyx_jupyter.providers.local_weights import Weights
from onyx_jupyter.testing.fake_clock import FakeClock

DAY_S = 24 * 3600


class Place:
    def __init__(self, folder: Path) -> None:
        self.folder = folder / "cache"
        self.clock = FakeClock()
        self.weights = Weights("small", folder / "small.gguf", 4096)
        self.weights.path.write_bytes(b"weights")

    @property
    def saved(self) -> SavedPrompt:
        """As after a restart: nothing is remembered but what is on disk."""
        saved = SavedPrompt(self.folder, self.weights, self.clock)
        saved.prepare()
        return saved

    @property
    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())

    def keep(self, content: bytes = b"what was read") -> None:
        saved = self.saved
        written = self.folder / saved.part_name
        written.write_bytes(content)
        at = self.clock.now().timestamp()
        os.utime(written, (at, at))
        saved.keep()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_saved_prompt_is_restored_once_by_its_owner(place: Place) -> None:
    place.keep()
    assert {(place.folder / name).stat().st_mode & 0o777 for name in place.names} == {0o600}
    assert place.folder.stat().st_mode & 0o777 == 0o700
    saved = place.saved
    name = saved.take()
    assert name is not None
    assert (place.folder / name).read_bytes() == b"what was read"
    assert place.saved.take() is None
    saved.drop()
    assert place.names == []


def test_truncated_or_modified_file_is_deleted_unread(place: Place) -> None:
    place.keep()
    (state,) = place.folder.glob("*.state")
    state.write_bytes(b"what was")
    assert place.saved.take() is None
    assert place.names == []


@pytest.mark.parametrize("about", ["", "[]", "{}", '{"schemaVersion": 2}', "\udcff"])
def test_unknown_file_is_deleted_unread(place: Place, about: str) -> None:
    place.keep()
    (path,) = place.folder.glob("*.json")
    path.write_bytes(about.encode(errors="surrogateescape"))
    assert place.saved.take() is None
    assert place.names == []


def test_other_model_or_context_restores_nothing(place: Place) -> None:
    place.keep()
    place.weights = replace(place.weights, context_tokens=2048)
    assert place.saved.take() is None
    place.weights = replace(place.weights, context_tokens=4096)
    place.weights.path.write_bytes(b"WEIGHTS")
    assert place.saved.take() is None


def test_saved_prompt_expires_after_a_day(place: Place) -> None:
    place.keep()
    place.clock.advance(DAY_S + 1)
    assert place.saved.take() is None
    assert place.names == []
    place.keep()
    left = place.names
    place.clock.advance(DAY_S - 60)
    assert place.saved.is_ready
    assert place.names == left


def test_leftovers_of_killed_process_expire(place: Place) -> None:
    assert place.saved.is_ready
    for name in ("0123-7.part", "0123-7.taken", "0123.state"):
        path = place.folder / name
        path.write_bytes(b"x")
        os.utime(path, (1, 1))
    assert place.saved.is_ready
    assert place.names == []


def test_too_long_prompt_is_not_saved_and_oldest_are_evicted(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onyx_jupyter.providers.local_saved_prompt._MAX_BYTES", 20)
    place.keep(b"x" * 21)
    assert place.names == []
    place.keep(b"x" * 20)
    before = set(place.names)
    (about,) = place.folder.glob("*.json")
    room = 20 + 2 * about.stat().st_size + 5
    monkeypatch.setattr("onyx_jupyter.providers.local_saved_prompt._MAX_TOTAL_BYTES", room)
    place.clock.advance(60)
    place.weights = replace(place.weights, context_tokens=2048)
    place.keep(b"y" * 20)
    after = set(place.names)
    assert not any(name.endswith(".state") and name in after for name in before)
    assert place.saved.take() is not None
