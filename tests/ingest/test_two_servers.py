"""Two servers on one home: what a person does in one of them holds in the other, whatever that one is reading."""

from dataclasses import replace
from pathlib import Path

import pytest

from onyx_jupyter.ingest.web_pages import Fetched
from tests.ingest.desk import Desk
from tests.waiting import until


@pytest.fixture
def desks(tmp_path: Path, jp_asyncio_loop):
    desks = Desk(tmp_path), Desk(tmp_path)
    yield desks
    for desk in desks:
        jp_asyncio_loop.run_until_complete(desk.close())


async def names(desk: Desk) -> list[str]:
    return [name for _, name in await desk.index.checksums("")]


@pytest.mark.parametrize("failing", [False, True])
async def test_item_removed_while_another_server_reads_it_stays_removed(
    desks: tuple[Desk, Desk], failing: bool
) -> None:
    one, other = desks
    one.write({"a.md": "Anemones", "b.md": "Barnacles"})
    await other.add("b.md")
    one.index.held.clear()
    item = await one.knowledge.add("a.md", None, is_url=False)
    await until(lambda: one.index.puts_under_way)
    await other.knowledge.remove(item.item_id)
    one.index.is_broken = failing
    one.index.held.set()
    await until(lambda: not one.knowledge._tasks)
    for desk in desks:
        assert [there.path for there in await desk.knowledge.items()] == ["b.md"]
        assert await desk.found("Anemones") == []
        assert (await desk.knowledge.search("Barnacles")).note is None, "nothing is still being read"
    assert [Path(name).name for name in await names(one)] == ["b.md"]
    assert one.news[-1] is None
    assert await other.finished(await other.knowledge.restore(item.item_id))
    assert await other.found("Anemones") == ["a.md"]


async def test_reading_stops_at_next_check_after_removal_elsewhere(desks: tuple[Desk, Desk]) -> None:
    one, other = desks
    one.write({"a.md": "Anemones", "b.md": "Barnacles"})
    kept = await other.add("b.md")
    one.index.held.clear()
    item = await one.knowledge.add("a.md", None, is_url=False)
    await until(lambda: one.index.puts_under_way)
    await other.knowledge.remove(item.item_id)
    await one.looked()
    assert one.news[-1] is None
    assert (await one.knowledge.search("Barnacles")).note is None, "nothing is still being read"
    assert [there.item_id for there in await one.knowledge.items()] == [kept.item_id]


async def test_orphaned_passages_are_hidden_and_removed_at_next_check(desks: tuple[Desk, Desk]) -> None:
    one, other = desks
    one.write({"a.md": "Anemones", "b.md": "Barnacles"})
    item = await one.add("a.md")
    await one.add("b.md")
    await one.looked()
    other.knowledge._items.remove(item.item_id, item.added_at)  # killed before it reached the index
    assert await one.found("Anemones") == []
    assert len(await names(one)) == 2
    await one.looked()
    assert [Path(name).name for name in await names(one)] == ["b.md"]


async def test_page_removed_during_fetch_is_not_restored(desks: tuple[Desk, Desk]) -> None:
    one, other = desks
    url = "https://tides.example/today"
    one.pages[url] = Fetched(url, 200, "text/plain", b"High water at four", False)
    item = await one.add(url, is_url=True)
    fetch = one._fetch

    async def removed_meanwhile(*arguments):
        await other.knowledge.remove(item.item_id)
        return await fetch(*arguments)

    one.knowledge._around = replace(one.knowledge._around, fetch=removed_meanwhile)
    await one.knowledge.refresh()
    await until(lambda: not one.knowledge._tasks)
    assert await one.knowledge.items() == []
    assert await one.found("high water") == []
    assert await other.finished(await other.knowledge.restore(item.item_id))
    assert await other.found("high water") == [url]


async def test_item_restored_while_another_server_reads_it_stays(desks: tuple[Desk, Desk]) -> None:
    one, other = desks
    one.write({"a.md": "Anemones"})
    one.index.held.clear()
    item = await one.knowledge.add("a.md", None, is_url=False)
    await until(lambda: one.index.puts_under_way)
    await other.knowledge.remove(item.item_id)
    back = await other.finished(await other.knowledge.restore(item.item_id))
    one.index.held.set()
    await until(lambda: not one.knowledge._tasks)
    assert back.state == "done"
    for desk in desks:
        assert [there.item_id for there in await desk.knowledge.items()] == [item.item_id]
        assert await desk.found("Anemones") == ["a.md"]
