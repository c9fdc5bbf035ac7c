"""Documents that were added are found with their place, read again where they change, and gone once removed."""

import json
import shutil
from pathlib import Path

import pytest

from onyx_jupyter.errors import NotFound, PathNotAllowed, StorageError
from onyx_jupyter.ingest.knowledge import SCAN_S, UNDO
from onyx_jupyter.ingest.web_pages import Fetched
from tests.ingest.desk import Desk
from tests.ingest.files import code_cell, encrypted_pdf, markdown_cell, notebook, parquet, pdf, printed
from tests.waiting import until

EVERY_KIND = {
    "log.md": "# Log\n\nThe voyage began at Emden.\n\n## Provisions\n\nWe carry forty litres of water.\n",
    "notes.txt": "The compass deviates by two degrees.\n\nThe harbour master is called Wiebke.",
    "tides.html": "<html><title>Tides</title><body><p>High water at Cuxhaven comes at four.</p></body></html>",
    "manual.pdf": pdf("The bilge pump has a fuse.", "The anchor weighs ten kilograms."),
    "gauge.ipynb": notebook(markdown_cell("# Gauge"), code_cell("salinity.mean()", printed("31 grams"))),
    "gauges.csv": "town,barometer\nCuxhaven,1013\nEmden,1009\n",
    "fleet.parquet": parquet({"vessel": ["Ada", "Grace"], "draught": [1.2, 1.4]}),
    "sails.py": "import math\n\n\ndef reef(wind):\n    '''Takes in the mainsail.'''\n    return math.sqrt(wind)\n",
}


async def test_folder_with_all_types_is_found_with_line_page_or_cell(desk: Desk) -> None:
    desk.write(EVERY_KIND)
    item = await desk.add()
    assert (item.state, item.done, item.total, item.problems, item.problem) == ("done", 8, 8, [], None)
    assert item.chunks >= 10
    asked = {
        "forty litres of water": ("log.md", (5, 7), None, None, "Log › Provisions"),
        "harbour master Wiebke": ("notes.txt", (1, 3), None, None, ""),
        "high water Cuxhaven four": ("tides.html", None, None, None, ""),
        "anchor weighs": ("manual.pdf", None, 2, None, ""),
        "salinity mean grams": ("gauge.ipynb", None, None, 2, "Gauge"),
        "barometer": ("gauges.csv", None, None, None, "Columns"),
        "vessel draught": ("fleet.parquet", None, None, None, "Columns"),
        "reef the mainsail": ("sails.py", (4, 6), None, None, "reef"),
    }
    for query, (path, lines, page, cell, heading) in asked.items():
        first = (await desk.knowledge.search(query)).passages[0]
        assert (first.path, first.page, first.cell, first.heading) == (path, page, cell, heading), query
        assert (first.start_line and (first.start_line, first.end_line)) == lines, query
        assert 0 < first.score <= 1


async def test_passage_around_match_is_returned_whole(desk: Desk) -> None:
    rows = "\n\n".join(
        f"Paragraph {n} of the log tells of the weather, the wind and the sea on that day." for n in range(60)
    )
    desk.write({"log.txt": f"{rows}\n\nThe parrot escaped."})
    await desk.add("log.txt")
    (best, *_) = (await desk.knowledge.search("parrot escaped")).passages
    assert "parrot" in best.snippet
    lines = (desk.root / "log.txt").read_text().split("\n")
    assert best.text == "\n".join(lines[best.start_line - 1 : best.end_line])
    assert len(best.text) > 2 * len(best.snippet)


async def test_unreadable_file_is_reported_and_others_are_read(desk: Desk) -> None:
    desk.write(
        {
            "a.md": "Anemones",
            "locked.pdf": encrypted_pdf("x"),
            "broken.ipynb": "{",
            "photo.txt": b"\0\1",
            "z.md": "Zebra",
        }
    )
    item = await desk.add()
    assert {problem.path: problem.message.partition(".")[0] for problem in item.problems} == {
        "locked.pdf": "It is encrypted",
        "broken.ipynb": "It is not a notebook: its content is not JSON",
        "photo.txt": "It is a binary file, not text",
    }
    assert (item.state, item.done, item.problem) == ("done", 5, None)
    assert (await desk.found("Anemones"), await desk.found("Zebra")) == (["a.md"], ["z.md"])


async def test_hidden_ignored_linked_and_unsupported_files_are_skipped(desk: Desk) -> None:
    desk.write(
        {"a.md": "Anemones", ".secret.md": "Zebra", ".gitignore": "build/\n", "build/b.md": "Zebra", "c.zip": "Zebra"}
    )
    (desk.root / "loop").symlink_to(desk.root)
    (desk.root / "linked.md").symlink_to(desk.root / ".secret.md")
    assert (await desk.add()).total == 1
    assert await desk.found("Zebra") == []


async def test_only_changed_files_are_reread_and_missing_ones_removed(desk: Desk) -> None:
    desk.write({"a.md": "Anemones", "b.md": "Barnacles", "c.md": "Clams"})
    await desk.add()
    desk.index.put_names.clear()
    desk.write({"b.md": "Dolphins swim"})
    (desk.root / "c.md").unlink()
    item = await desk.refreshed()
    assert desk.index.put_names == ["b.md"]
    assert (item.total, await desk.found("Dolphins"), await desk.found("Clams")) == (2, ["b.md"], [])


async def test_change_is_noticed_by_a_later_search(desk: Desk) -> None:
    desk.write({"a.md": "Anemones"})
    await desk.add()
    await desk.found("Anemones")
    await until(lambda: not desk.knowledge._tasks)
    desk.write({"a.md": "Dolphins swim"})
    desk.clock.advance(SCAN_S)
    await desk.found("Dolphins")
    await until(lambda: desk.index.put_names == ["a.md", "a.md"])
    assert await desk.found("Dolphins") == ["a.md"]


async def test_file_vanishing_during_read_is_reported(desk: Desk) -> None:
    desk.write({"a.md": "Anemones", "b.md": "Barnacles"})
    guard_file = desk.guard.file

    def vanishing(real: Path):
        (desk.root / "b.md").unlink(missing_ok=True)
        return guard_file(real)

    desk.guard.file = vanishing  # type: ignore[method-assign]
    item = await desk.add()
    assert [(problem.path, "no longer exists" in problem.message) for problem in item.problems] == [("b.md", True)]
    assert await desk.found("Anemones") == ["a.md"]


async def test_interrupted_work_resumes_after_kill(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.write({f"{n:03}.md": f"Note {n}" for n in range(150)})
    await desk.knowledge.add(".", None, is_url=False)
    await until(lambda: desk.index.put_names)
    desk.index.held.clear()
    done = list(desk.index.put_names)
    await desk.close()
    assert 0 < len(done) < 150

    again = Desk(tmp_path)
    forget_the_files(again)
    again.knowledge.scan()
    await until(lambda: len(again.index.put_names) + len(done) >= 150 and not again.knowledge._tasks)
    (item,) = await again.knowledge.items()
    assert (item.state, item.total, item.chunks) == ("done", 150, 150)
    assert await again.found("Note 149", limit=1)
    await again.close()


def forget_the_files(desk: Desk) -> None:
    """The list as a kill leaves it: what was read is known by the index alone."""
    place = desk.home / "knowledge" / "documents.json"
    content = json.loads(place.read_text())
    for item in content["items"]:
        item["files"] = []
    place.write_text(json.dumps(content))


async def test_lost_index_is_rebuilt_from_files(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.write(EVERY_KIND)
    await desk.add()
    before = [one.path for one in (await desk.knowledge.search("the")).passages]
    await desk.close()
    shutil.rmtree(desk.home / "index")
    again = Desk(tmp_path)
    again.knowledge.scan()
    await until(lambda: len(again.index.put_names) == len(EVERY_KIND) and not again.knowledge._tasks)
    assert [one.path for one in (await again.knowledge.search("the")).passages] == before
    await again.close()


async def test_reading_can_be_stopped_and_resumed(desk: Desk) -> None:
    desk.write({f"{n}.md": f"Note {n}" for n in range(10)})
    desk.index.held.clear()
    item = await desk.knowledge.add(".", None, is_url=False)
    await until(lambda: any(news and news.state == "reading" for news in desk.news))
    stopped = await desk.knowledge.stop(item.item_id)
    assert (stopped.state, desk.index.put_names) == ("stopped", [])
    desk.index.held.set()
    desk.knowledge.scan(at_once=True)
    await until(lambda: desk.knowledge._scan_task.done())
    assert (await desk.knowledge.items())[0].state == "stopped"  # nothing begins it again but its person
    assert ((await desk.refreshed()).state, len(desk.index.put_names)) == ("done", 10)


async def test_removed_item_is_not_found_unless_another_includes_it(desk: Desk) -> None:
    desk.write({"docs/a.md": "Anemones", "docs/b.md": "Barnacles"})
    folder, file = await desk.add("docs"), await desk.add("docs/a.md")
    await desk.knowledge.remove(folder.item_id)
    assert (await desk.found("Barnacles"), await desk.found("Anemones")) == ([], ["docs/a.md"])
    await desk.knowledge.remove(file.item_id)
    assert (await desk.found("Anemones"), await desk.knowledge.items()) == ([], [])
    assert (desk.root / "docs/a.md").exists()
    with pytest.raises(NotFound):
        await desk.knowledge.remove(file.item_id)


async def test_same_path_is_one_item(desk: Desk) -> None:
    desk.write({"a.md": "Anemones"})
    first, second = await desk.add("a.md"), await desk.add("./a.md")
    assert first.item_id == second.item_id
    assert desk.index.put_names == ["a.md"]


async def test_page_is_stored_and_found_without_network(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    url = "https://tides.example/today"
    desk.pages[url] = Fetched(url, 200, "text/html", EVERY_KIND["tides.html"].encode(), False)
    item = await desk.add(url, is_url=True)
    assert (item.kind, item.path, item.state, item.title) == ("url", url, "done", "Tides")
    await desk.close()
    shutil.rmtree(desk.home / "index")
    again = Desk(tmp_path)  # with no pages at all
    again.knowledge.scan()
    await until(lambda: again.index.put_names and not again.knowledge._tasks)
    (found,) = (await again.knowledge.search("high water")).passages
    assert (found.path, found.start_line) == (url, None)
    await again.close()


async def test_vanished_page_is_reported_and_old_copy_still_found(desk: Desk) -> None:
    url = "https://tides.example/today"
    desk.pages[url] = Fetched(url, 200, "text/plain", b"High water at four", False)
    await desk.add(url, is_url=True)
    desk.pages[url] = Fetched(url, 404, "text/plain", b"", False)
    item = await desk.refreshed()
    assert (item.state, item.problem.partition(".")[0]) == ("failed", "The server answered with HTTP 404")
    assert await desk.found("high water") == [url]


@pytest.mark.parametrize(
    ("url", "media_type", "body", "outcome"),
    [
        ("https://x.example/paper", "application/pdf", pdf("High water"), "done"),
        ("https://x.example/data.csv", "application/octet-stream", b"water,high\n1,2\n", "done"),
        ("https://x.example/nb.ipynb", "text/plain", notebook(markdown_cell("High water")), "done"),
        ("https://x.example/cat", "image/png", b"\x89PNG", "failed"),
    ],
)
async def test_page_type_comes_from_server_or_name(desk, url, media_type, body, outcome) -> None:
    desk.pages[url] = Fetched(url, 200, media_type, body, False)
    assert (await desk.add(url, is_url=True)).state == outcome
    assert await desk.found("high water") == ([url] if outcome == "done" else [])


async def test_removal_can_be_undone_for_an_hour_without_network(desk: Desk) -> None:
    url = "https://tides.example/today"
    desk.pages[url] = Fetched(url, 200, "text/plain", b"High water at four", False)
    item = await desk.add(url, is_url=True)
    desk.pages.clear()
    await desk.knowledge.remove(item.item_id)
    assert (await desk.found("high water"), await desk.knowledge.items()) == ([], [])
    assert (await desk.knowledge.restore(item.item_id)).item_id == item.item_id
    back = await desk.finished(item)
    assert (back.state, back.chunks, await desk.found("high water")) == ("done", item.chunks, [url])

    await desk.knowledge.remove(item.item_id)
    desk.clock.advance(UNDO.total_seconds() + 1)
    await desk.looked()
    assert list((desk.home / "knowledge" / "files").iterdir()) == []
    with pytest.raises(NotFound):
        await desk.knowledge.restore(item.item_id)


async def test_removed_item_is_not_reread_and_can_be_added_again(desk: Desk) -> None:
    desk.write({"a.md": "Anemones"})
    item = await desk.add("a.md")
    await desk.knowledge.remove(item.item_id)
    desk.knowledge.scan(at_once=True)
    await until(lambda: desk.knowledge._scan_task.done() and not desk.knowledge._tasks)
    assert await desk.found("Anemones") == []
    assert ((await desk.add("a.md")).chunks, await desk.found("Anemones")) == (1, ["a.md"])


async def test_search_can_be_limited_to_folders(desk: Desk) -> None:
    desk.write({"docs/a.md": "Anemones", "docs2/b.md": "Anemones", "c.md": "Anemones"})
    await desk.add()
    assert await desk.found("Anemones", paths=["docs"]) == ["docs/a.md"]
    assert sorted(await desk.found("Anemones", paths=["docs2", "c.md"])) == ["c.md", "docs2/b.md"]
    with pytest.raises(PathNotAllowed):
        await desk.found("Anemones", paths=["/etc"])


@pytest.mark.parametrize(("where", "error"), [("/etc/passwd", PathNotAllowed), ("nowhere.md", NotFound)])
async def test_disallowed_or_missing_paths_are_not_added(desk: Desk, where: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        await desk.knowledge.add(where, None, is_url=False)
    assert await desk.knowledge.items() == []


async def test_unsupported_file_type_is_named(desk: Desk) -> None:
    desk.write({"a.zip": b"PK\0\0"})
    item = await desk.add("a.zip")
    assert (item.state, item.problem.partition(".")[0]) == ("failed", "Files of type ")


async def test_missing_path_is_reported_and_indexed_text_stays(desk: Desk) -> None:
    desk.write({"docs/a.md": "Anemones"})
    await desk.add("docs")
    shutil.rmtree(desk.root / "docs")
    item = await desk.refreshed()
    assert (item.state, "no longer exists" in item.problem) == ("failed", True)
    assert await desk.found("Anemones") == ["docs/a.md"]


async def test_unwritable_index_is_reported_for_item_and_retried(desk: Desk) -> None:
    desk.write({"a.md": "Anemones"})
    desk.index.is_broken = True
    item = await desk.add()
    assert (item.state, "cannot be written" in item.problem) == ("failed", True)
    desk.index.is_broken = False
    assert ((await desk.refreshed()).problem, await desk.found("Anemones")) == (None, ["a.md"])


async def test_damaged_list_is_reported_and_left_unchanged(desk: Desk) -> None:
    desk.write({"a.md": "Anemones"})
    await desk.add()
    place = desk.home / "knowledge" / "documents.json"
    place.write_text("{")
    with pytest.raises(StorageError, match="damaged"):
        await desk.knowledge.items()
    with pytest.raises(StorageError, match="damaged"):
        await desk.knowledge.add("a.md", None, is_url=False)
    assert place.read_text() == "{"


async def test_progress_is_reported_with_counts(desk: Desk) -> None:
    desk.write({f"{n:03}.md": f"Note {n}" for n in range(100)})
    await desk.add()
    steps = [(news.state, news.done, news.total) for news in desk.news if news]
    assert steps[0] == ("reading", 0, 100)
    assert ("reading", 64, 100) in steps
    assert steps[-1] == ("done", 100, 100)


async def test_progress_is_reported_periodically_even_if_little_was_read(desk: Desk) -> None:
    desk.write({f"{n}.md": f"Note {n}" for n in range(3)})
    guard_file = desk.guard.file

    def slowly(real: Path):
        desk.clock.advance(1.5)
        return guard_file(real)

    desk.guard.file = slowly  # type: ignore[method-assign]
    await desk.add()
    assert [(news.done, news.chunks) for news in desk.news if news] == [(0, 0), (2, 2), (3, 3), (3, 3)]
