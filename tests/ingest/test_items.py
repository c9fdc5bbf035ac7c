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


def test_item_removed_by_one_server_is_not_restored_by_anothers_save(store: ItemStore, tmp_path: Path) -> None:
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


def test_save_changes_only_its_own_item(store: ItemStore, tmp_path: Path) -> None:
    ItemStore(tmp_path).keep_copy("a", "a.html", b"page")
    assert store.change("a", files=(FILE,)).kept == "a.html"


@pytest.mark.parametrize("bring", [lambda store: store.restore("a"), lambda store: store.add(A)])
def test_restored_item_is_not_purged_with_the_others(store: ItemStore, bring: Callable[[ItemStore], Item]) -> None:
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


def test_copy_is_deleted_once_item_cannot_be_restored(store: ItemStore) -> None:
    store.keep_copy("a", "a.html", b"page")
    store.keep_copy("b", "b.html", b"page")
    removed(store)
    store.clear(NOW - timedelta(hours=1))
    assert copies(store) == {"a.html", "b.html"}
    store.clear(LATER)
    assert copies(store) == {"b.html"}


@pytest.mark.parametrize("name", ["documents.json", "removed.json"])
def test_temporarily_missing_list_deletes_no_copy(store: ItemStore, tmp_path: Path, name: str) -> None:
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


def test_restored_older_list_deletes_no_newer_copy(store: ItemStore, tmp_path: Path) -> None:
    place = tmp_path / "documents.json"
    older = place.read_bytes()
    store.add(UPLOAD, b"only copy")
    place.write_bytes(older)
    store.clear(LATER)
    assert copies(store) == {"u.pdf"}


def test_copy_used_by_another_item_stays(store: ItemStore, tmp_path: Path) -> None:
    """A list was put back after its person had added the same file again, and removed that."""
    store.add(UPLOAD, b"only copy")
    place = tmp_path / "documents.json"
    place.rename(tmp_path / "away")
    store.add(UPLOAD.model_copy(update={"id": "again"}), b"only copy")
    removed(store, "again")
    (tmp_path / "away").rename(place)
    store.clear(LATER)
    assert (ids(store), copies(store)) == (["a", "u", "b"], {"u.pdf"})


def test_failed_deletion_is_retried(store: ItemStore, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_partial_copy_of_killed_server_is_deleted_with_next_save(store: ItemStore) -> None:
    store.keep_copy("a", "a.html", b"page")
    (store.copies.folder / f".u.pdf.ab{UNFINISHED}").write_bytes(b"hal")
    store.add(UPLOAD, b"only copy")
    assert copies(store) == {"a.html", "u.pdf"}


def test_page_of_another_type_replaces_former_copy(store: ItemStore) -> None:
    store.keep_copy("a", "a.html", b"page")
    store.keep_copy("a", "a.pdf", b"paper")
    assert copies(store) == {"a.pdf"}


def test_unlisted_item_leaves_no_copy(store: ItemStore, tmp_path: Path) -> None:
    removed(store)
    with pytest.raises(NotFound):
        store.keep_copy("a", "a.html", b"page")
    (tmp_path / "documents.json").write_text("{")
    with pytest.raises(StorageError, match="damaged"):
        store.add(UPLOAD, b"only copy")
    assert not store.copies.folder.exists()


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("doing", ["remove", "restore"])
def test_kill_between_two_lists_keeps_item_in_one(
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


def test_older_version_can_read_list_with_removed_and_restored_items(store: ItemStore, tmp_path: Path) -> None:
    store.change("b", files=(FILE,), problem="late", stopped=True)
    removed(store)
    text = (tmp_path / "documents.json").read_text()
    assert [item.id for item in FormerList.model_validate_json(text).items] == ["b"]
    assert json.loads(text)["schema_version"] == 1
    store.restore("a")
    text = (tmp_path / "documents.json").read_text()
    assert [item.files[0].name for item in FormerList.model_validate_json(text).items if item.files] == ["/a/x.md"]


def test_fields_of_newer_version_survive(store: ItemStore, tmp_path: Path) -> None:
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


def test_item_removed_by_editing_list_is_gone_and_can_be_restored(store: ItemStore, tmp_path: Path) -> None:
    place = tmp_path / "documents.json"
    content = json.loads(place.read_text())
    content["items"][0]["removedAt"] = timestamp(NOW)
    place.write_text(json.dumps(content))
    assert ids(store) == ["b"]
    assert store.restore("a").removed_at is None
    assert ids(store) == ["a", "b"]


def test_item_removed_by_editing_list_stays_removed_after_other_changes(store: ItemStore, tmp_path: Path) -> None:
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


def test_item_removed_by_editing_list_is_purged(store: ItemStore, tmp_path: Path) -> None:
    place = tmp_path / "documents.json"
    content = json.loads(place.read_text())
    content["items"][0]["removedAt"] = timestamp(NOW)
    place.write_text(json.dumps(content))
    store.clear(LATER)
    assert [item["id"] for item in json.loads(place.read_text())["items"]] == ["b"]
    with pytest.raises(NotFound):
        store.restore("a")


def test_damaged_list_of_removed_items_does_not_affect_existing_ones(store: ItemStore, tmp_path: Path) -> None:
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


def test_next_removal_is_stored_beside_damaged_list(store: ItemStore, tmp_path: Path) -> None:
    (tmp_path / "removed.json").write_text("{")
    removed(store)
    assert (ids(store), store.restore("a").id) == (["b"], "a")
    assert (tmp_path / "removed.json.damaged").read_text() == "{"
