"""Files that no reader was made for each end in a clear report; the others are read, and nothing is changed in any."""

import hashlib
from pathlib import Path

import pytest

from onyx_jupyter.errors import PathNotAllowed
from tests.ingest.desk import Desk

HUNDRED_MB = 100_000_000


def digests(folder: Path) -> dict[str, str]:
    files = [place for place in folder.rglob("*") if place.is_file() and not place.is_symlink()]
    return {place.name: hashlib.sha256(place.read_bytes()).hexdigest() for place in files}


async def test_each_problem_is_named_with_remedy(desk: Desk) -> None:
    desk.write(
        {
            "binary.txt": b"\x7fELF\0\0\0",
            "lines.log": b"line\n" * 1_000_000,
            "mixed.md": "# Grüße\n\nDie Möwe sagt krah, während sie fliegt".encode() + b" \xff\xfe weiter",
            "good.md": "Anemones",
        }
    )
    with (desk.root / "large.log").open("wb") as file:
        file.truncate(HUNDRED_MB)
    (desk.root / "one").symlink_to(desk.root / "two")
    (desk.root / "two").symlink_to(desk.root / "one")
    before = digests(desk.root)

    item = await desk.add()
    assert {problem.path: problem.message for problem in item.problems} == {
        "binary.txt": "It is a binary file, not text. Add a text, PDF or HTML version of it.",
        "lines.log": "It has 1000001 lines and 5000000 characters of text; the limits are 200000 lines and "
        "8000000 characters. Split it, or add only the part that matters.",
        "large.log": "It is 100 MB; the limit is 50 MB. Split it, or add only the part that matters.",
        "mixed.md": "2 of its bytes are not valid in its encoding and could not be read. Save it again as UTF-8.",
    }
    assert (item.state, item.done, item.total) == ("done", 5, 5)
    assert (await desk.found("Anemones"), await desk.found("Möwe")) == (["good.md"], ["mixed.md"])
    assert digests(desk.root) == before


async def test_symlink_loop_is_not_added(desk: Desk) -> None:
    (desk.root / "one").symlink_to(desk.root / "two")
    (desk.root / "two").symlink_to(desk.root / "one")
    with pytest.raises(PathNotAllowed, match=r"(?i)loop"):
        await desk.knowledge.add("one", None, is_url=False)
    assert await desk.knowledge.items() == []


async def test_full_disk_is_reported_for_document_and_search_still_answers(desk: Desk) -> None:
    desk.write({"a.md": "Anemones", "b.md": "Barnacles"})
    await desk.add("a.md")
    texts = desk.home / "index" / "texts"
    kept = texts.rename(texts.with_name("kept"))
    texts.write_text("no folder")
    item = await desk.add("b.md")
    assert (item.state, (item.problem or "").partition(" ")[0]) == ("failed", "Could")
    assert "Not a directory" in (item.problem or "")
    assert await desk.found("Anemones") == ["a.md"]
    texts.unlink()
    kept.rename(texts)
    again = await desk.knowledge.refresh(item.item_id)
    assert ((await desk.finished(again[0])).state, await desk.found("Barnacles")) == ("done", ["b.md"])
