"""What a person uploads is kept as a copy, found with its place, and goes when it is removed for good."""

import os

import pytest

from onyx_jupyter.errors import DocumentUnreadable, StorageError
from onyx_jupyter.ingest.copies import MAX_UPLOAD_BYTES, upload_title
from onyx_jupyter.ingest.knowledge import UNDO
from tests.ingest.desk import Desk
from tests.ingest.files import pdf


def copies(desk: Desk) -> list[str]:
    return [place.suffix for place in (desk.home / "knowledge" / "files").iterdir()]


async def test_upload_is_found_by_page_and_copy_deleted_after_undo_period(desk: Desk) -> None:
    item = await desk.knowledge.add_upload("../../manual.pdf", pdf("The bilge pump has a fuse."))
    item = await desk.finished(item)
    assert (item.kind, item.path, item.state) == ("upload", "manual.pdf", "done")
    (found,) = (await desk.knowledge.search("bilge pump")).passages
    assert (found.path, found.page) == ("manual.pdf", 1)
    assert copies(desk) == [".pdf"]

    await desk.knowledge.remove(item.item_id)
    assert await desk.found("bilge pump") == []
    desk.clock.advance(UNDO.total_seconds() + 1)
    await desk.looked()
    assert copies(desk) == []


async def test_replacing_damaged_list_loses_no_upload(desk: Desk) -> None:
    await desk.finished(await desk.knowledge.add_upload("manual.md", b"The bilge pump has a fuse."))
    (copy,) = (desk.home / "knowledge" / "files").iterdir()
    os.utime(copy, (0, 0))
    place = desk.home / "knowledge" / "documents.json"
    whole = place.read_bytes()
    place.write_text("{")
    with pytest.raises(StorageError, match="damaged") as error:
        await desk.knowledge.items()
    assert "move it away" in str(error.value.hint)
    place.unlink()
    await desk.looked()
    assert (await desk.knowledge.items(), await desk.found("bilge pump")) == ([], [])

    place.write_bytes(whole)
    await desk.looked()
    assert ([item.state for item in await desk.knowledge.items()], await desk.found("bilge pump")) == (
        ["done"],
        ["manual.md"],
    )


async def test_same_file_is_one_item_and_same_name_with_other_content_another(desk: Desk) -> None:
    first = await desk.finished(await desk.knowledge.add_upload("a.md", b"Anemones"))
    again = await desk.finished(await desk.knowledge.add_upload("a.md", b"Anemones"))
    other = await desk.finished(await desk.knowledge.add_upload("a.md", b"Barnacles"))
    assert first.item_id == again.item_id != other.item_id
    assert [item.path for item in await desk.knowledge.items()] == ["a.md", "a.md"]


async def test_two_names_with_same_content_have_separate_copies(desk: Desk) -> None:
    first = await desk.finished(await desk.knowledge.add_upload("a.md", b"Anemones"))
    await desk.finished(await desk.knowledge.add_upload("b.md", b"Anemones"))
    await desk.knowledge.remove(first.item_id)
    desk.clock.advance(UNDO.total_seconds() + 1)
    await desk.looked()
    (left,) = await desk.knowledge.refresh()
    assert ((await desk.finished(left)).problem, await desk.found("Anemones")) == (None, ["b.md"])


async def test_search_can_be_limited_to_an_upload(desk: Desk) -> None:
    desk.write({"b.md": "Anemones"})
    await desk.add("b.md")
    await desk.finished(await desk.knowledge.add_upload("a.md", b"Anemones"))
    assert await desk.found("Anemones", paths=["a.md"]) == ["a.md"]


@pytest.mark.parametrize(
    ("name", "size_bytes", "says"),
    [("photo.png", 10, "type .png are not supported"), ("a.csv", MAX_UPLOAD_BYTES + 1, "limited to 50 MB")],
)
async def test_rejected_upload_is_not_stored(desk: Desk, name: str, size_bytes: int, says: str) -> None:
    with pytest.raises(DocumentUnreadable, match=says):
        await desk.knowledge.add_upload(name, bytes(size_bytes))
    assert await desk.knowledge.items() == []
    assert not (desk.home / "knowledge").exists()


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ("C:\\Users\\me\\manual.pdf", "manual.pdf"),
        ("../../etc/passwd", "passwd"),
        ("a\0b\n.md", "ab.md"),
        ("..", "Untitled"),
        ("", "Untitled"),
        ("x" * 500 + ".pdf", "x" * 196 + ".pdf"),
    ],
)
def test_upload_is_named_by_last_path_component(given: str, title: str) -> None:
    assert upload_title(given) == title
