"""What is in the list stays in it, and what was taken out stays out, whichever server writes it, of any version."""

import json
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict

from onyx_jupyter.clock import timestamp
from onyx_jupyter.errors import NotFound, StorageError
from onyx_jupyter.events import to_camel
from onyx_jupyter.ingest import items as module
from onyx_jupyter.ingest.items import FileRecord, Item, ItemStore
from onyx_jupyter.storage.atomic_swap import UNFINISHED
from onyx_jupyter.testing.fake_clock import FakeClock

NOW = FakeClock().now()
A = Item(id="a", kind="path", location="/a", agent_id="", added_at="2026-01-01T00:00:00Z")
B = A.model_copy(update={"id": "b", "location": "/b", "added_at": "2026-01-02T00:00:00Z"})
UPLOAD = A.model_copy(update={"id": "u", "kind": "upload", "location": "upload:x/u.pdf", "kept": "u.pdf"})
LATER = NOW + timedelta(days=10_000)
FILE = FileRecord(name="/a/x.md", checksum="c", size_bytes=1, changed_ns=2)


@pytest.fixture
def store(tmp_path: Path) -> ItemStore:
    store = ItemStore(tmp_path)
    store.add(A)
    store.add(B)
    return store


def ids(store: ItemStore) -> list[str]:
    return [item.id for item in store.all()]


def removed(store: ItemStore, item_id: str = "a") -> None:
    store.remove(item_id, timestamp(NOW))


def test_what_one_server_removed_is_not_brought_back_by_what_another_saves(store: ItemStore, tmp_path: Path) -> None:
    other = ItemStore(tmp_path)
    removed(other)
    with pytest.raises(NotFound):
        store.change("a", files=(FILE,))
    with pytest.raises(NotFound):
        store.keep_copy("a", "a.html", b"page")
    with pytest.raises(NotFound):
        store.remove("a", timestamp(NOW))
    assert ids(store) == ids(other) == ["b"]
    assert store.restore("a").files == ()
    assert ids(other) == ["a", "b"], "in its place"


def test_a_save_changes_nothing_but_what_it_saves(store: ItemStore, tmp_path: Path) -> None:
    ItemStore(tmp_path).keep_copy("a", "a.html", b"page")
    assert store.change("a", files=(FILE,)).kept == "a.html"


@pytest.mark.parametrize("bring", [lambda store: store.restore("a"), lambda store: store.add(A)])
def test_what_was_brought_back_is_not_cleared_away_with_what_was_not(
    store: ItemStore, bring: Callable[[ItemStore], Item]
) -> None:
    store.keep_copy("a", "a.html", b"page")
    removed(store)
    removed(store, "b")
    assert bring(store).id == "a"
    store.clear(LATER)
    assert (ids(store), [place.name for place in store.copies.folder.iterdir()]) == (["a"], ["a.html"])
    with pytest.raises(NotFound):
        store.restore("b")


def copies(store: ItemStore) -> set[str]:
    return {place.name for place in store.copies.folder.iterdir()}


def test_a_copy_goes_with_its_item_when_that_cannot_be_brought_back_any_more(store: ItemStore) -> None:
    store.keep_copy("a", "a.html", b"page")
    store.keep_copy("b", "b.html", b"page")
    removed(store)
    store.clear(NOW - timedelta(hours=1))
    assert copies(store) == {"a.html", "b.html"}
    store.clear(LATER)
    assert copies(store) == {"b.html"}


@pytest.mark.parametrize("name", ["documents.json", "removed.json"])
def test_a_list_that_is_moved_away_for_a_while_costs_no_copy(store: ItemStore, tmp_path: Path, name: str) -> None:
    store.keep_copy("a", "a.html", b"page")
    store.keep_copy("b", "b.html", b"page")
    removed(store)
    for copy in store.copies.folder.iterdir():
        os.utime(copy, (0, 0))
    place = tmp_path / name
    place.rename(tmp_path / "away")
    store.clear(NOW - timedelta(hours=1))
    (tmp_path / "away").rename(place)
    assert copies(store) == {"a.html", "b.html"}
    assert (ids(store), store.restore("a").kept) == (["b"], "a.html")


def test_an_older_list_that_is_put_back_costs_no_copy_of_what_was_added_since(store: ItemStore, tmp_path: Path) -> None:
    place = tmp_path / "documents.json"
    older = place.read_bytes()
    store.add(UPLOAD, b"only copy")
    place.write_bytes(older)
    store.clear(LATER)
    assert copies(store) == {"u.pdf"}


def test_a_copy_that_another_item_has_stays(store: ItemStore, tmp_path: Path) -> None:
    """A list was put back after its person had added the same file again, and removed that."""
    store.add(UPLOAD, b"only copy")
    place = tmp_path / "documents.json"
    place.rename(tmp_path / "away")
    store.add(UPLOAD.model_copy(update={"id": "again"}), b"only copy")
    removed(store, "again")
    (tmp_path / "away").rename(place)
    store.clear(LATER)
    assert (ids(store), copies(store)) == (["a", "u", "b"], {"u.pdf"})


def test_what_cannot_be_deleted_is_tried_again(store: ItemStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.keep_copy("a", "a.html", b"page")
    removed(store)

    def busy(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "another program has it open")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", busy)
        store.clear(LATER)
    assert copies(store) == {"a.html"}
    store.clear(LATER)
    assert copies(store) == set()
    with pytest.raises(NotFound):
        store.restore("a")


def test_half_a_copy_that_a_killed_server_left_goes_with_the_next_one(store: ItemStore) -> None:
    store.keep_copy("a", "a.html", b"page")
    (store.copies.folder / f".u.pdf.ab{UNFINISHED}").write_bytes(b"hal")
    store.add(UPLOAD, b"only copy")
    assert copies(store) == {"a.html", "u.pdf"}


def test_a_page_of_another_kind_takes_the_place_of_its_former_copy(store: ItemStore) -> None:
    store.keep_copy("a", "a.html", b"page")
    store.keep_copy("a", "a.pdf", b"paper")
    assert copies(store) == {"a.pdf"}


def test_what_is_not_in_the_list_leaves_no_copy(store: ItemStore, tmp_path: Path) -> None:
    removed(store)
    with pytest.raises(NotFound):
        store.keep_copy("a", "a.html", b"page")
    (tmp_path / "documents.json").write_text("{")
    with pytest.raises(StorageError, match="damaged"):
        store.add(UPLOAD, b"only copy")
    assert not store.copies.folder.exists()


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("doing", ["remove", "restore"])
def test_a_kill_between_the_two_lists_leaves_the_item_in_one_of_them(
    store: ItemStore, doing: str, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if doing == "restore":
        removed(store)
    before, done, write = ids(store), [], module.write_text_atomically

    def dying(path: Path, text: str) -> None:
        if len(done) == step:
            raise KeyboardInterrupt
        done.append(path)
        write(path, text)

    monkeypatch.setattr(module, "write_text_atomically", dying)
    with pytest.raises(KeyboardInterrupt):
        removed(store) if doing == "remove" else store.restore("a")
    monkeypatch.undo()
    assert ids(store) == (["a", "b"] if (doing, step) == ("restore", 1) else before)
    assert store.restore("a").id == "a"
    assert ids(store) == ["a", "b"]
    removed(store)
    assert ids(store) == ["b"]


class Former(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", strict=True, frozen=True)


class FormerFile(Former):
    name: str
    checksum: str
    size_bytes: int
    changed_ns: int
    chunks: int = 0
    title: str = ""
    problem: str | None = None
    note: str | None = None


class FormerItem(Former):
    """As the first version of Onyx reads it that had documents."""

    id: str
    kind: Literal["path", "url"]
    location: str
    agent_id: str
    added_at: str
    kept: str | None = None
    stopped: bool = False
    problem: str | None = None
    files: tuple[FormerFile, ...] = ()


class FormerList(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    schema_version: Literal[1] = 1
    items: list[FormerItem]


def test_a_former_version_reads_the_list_also_when_something_was_removed_or_restored(
    store: ItemStore, tmp_path: Path
) -> None:
    store.change("b", files=(FILE,), problem="late", stopped=True)
    removed(store)
    text = (tmp_path / "documents.json").read_text()
    assert [item.id for item in FormerList.model_validate_json(text).items] == ["b"]
    assert json.loads(text)["schema_version"] == 1
    store.restore("a")
    text = (tmp_path / "documents.json").read_text()
    assert [item.files[0].name for item in FormerList.model_validate_json(text).items if item.files] == ["/a/x.md"]


def test_what_a_newer_version_has_written_into_the_list_survives(store: ItemStore, tmp_path: Path) -> None:
    place = tmp_path / "documents.json"
    content: dict[str, Any] = json.loads(place.read_text())
    content["colour"] = "blue"
    for item in content["items"]:
        item |= {"labelledAs": ["x"], "files": [{**json.loads(FILE.model_dump_json(by_alias=True)), "pageCount": 3}]}
    place.write_text(json.dumps(content))
    store.change("b", stopped=True)
    removed(store)
    store.restore("a")
    content = json.loads(place.read_text())
    assert content["colour"] == "blue"
    assert [item["labelledAs"] for item in content["items"]] == [["x"], ["x"]]
    assert content["items"][1]["files"][0]["pageCount"] == 3


def test_what_was_removed_in_the_list_itself_is_not_there_and_can_be_restored(store: ItemStore, tmp_path: Path) -> None:
    place = tmp_path / "documents.json"
    content = json.loads(place.read_text())
    content["items"][0]["removedAt"] = timestamp(NOW)
    place.write_text(json.dumps(content))
    assert ids(store) == ["b"]
    assert store.restore("a").removed_at is None
    assert ids(store) == ["a", "b"]


def test_what_was_removed_in_the_list_itself_stays_removed_whatever_is_changed(
    store: ItemStore, tmp_path: Path
) -> None:
    store.keep_copy("a", "a.html", b"page")
    place = tmp_path / "documents.json"
    content = json.loads(place.read_text())
    content["items"][0]["removedAt"] = timestamp(NOW)
    place.write_text(json.dumps(content))
    store.change("b", stopped=True)
    with pytest.raises(NotFound):
        store.change("a", stopped=True)
    store.add(UPLOAD, b"only copy")
    assert (ids(store), store.restore("a").kept) == (["u", "b"], "a.html")
    assert ids(store) == ["u", "a", "b"]


def test_what_was_removed_in_the_list_itself_is_cleared_from_it(store: ItemStore, tmp_path: Path) -> None:
    place = tmp_path / "documents.json"
    content = json.loads(place.read_text())
    content["items"][0]["removedAt"] = timestamp(NOW)
    place.write_text(json.dumps(content))
    store.clear(LATER)
    assert [item["id"] for item in json.loads(place.read_text())["items"]] == ["b"]
    with pytest.raises(NotFound):
        store.restore("a")


def test_a_damaged_list_of_what_was_removed_keeps_nobody_from_what_is_there(store: ItemStore, tmp_path: Path) -> None:
    store.keep_copy("a", "a.html", b"page")
    removed(store)
    place = tmp_path / "removed.json"
    place.write_text("{")
    assert ids(store) == ["b"]
    assert store.change("b", stopped=True).stopped
    assert store.add(UPLOAD, b"only copy").id == "u"
    assert store.clear(LATER)
    with pytest.raises(StorageError, match="damaged") as error:
        store.restore("a")
    assert "Move it away" in str(error.value.hint)
    assert (place.read_text(), copies(store)) == ("{", {"a.html", "u.pdf"})


def test_what_is_removed_next_is_noted_beside_the_damaged_list_of_before(store: ItemStore, tmp_path: Path) -> None:
    (tmp_path / "removed.json").write_text("{")
    removed(store)
    assert (ids(store), store.restore("a").id) == (["b"], "a")
    assert (tmp_path / "removed.json.damaged").read_text() == "{"
