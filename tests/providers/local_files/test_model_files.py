"""All model files of one server: states, downloading, pausing, removing, and concurrent servers."""

import asyncio
import errno
import os
from contextlib import asynccontextmanager

import pytest

from onyx_jupyter.clock import SystemClock
from onyx_jupyter.errors import InvalidRequest, ModelError, NotFound
from onyx_jupyter.providers.local_files import file_download, model_files
from onyx_jupyter.providers.local_files.download_lock import DownloadLock
from onyx_jupyter.providers.local_files.http_file import own_file
from onyx_jupyter.providers.local_files.model_files import ModelFiles
from onyx_jupyter.providers.local_files.part_file import PartFile
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.providers.local_files.file_server import FileServer
from tests.providers.local_files.rows import CONTENT, OTHER, ROW, SIZE_BYTES, file_path, part_path, row
from tests.waiting import until

SMALL = row(OTHER, name="small")
ROWS = (ROW, SMALL)


class House:
    """One server's files in `folder`, from a file server. `told` is what everybody was told; `used` is in use."""

    def __init__(self, folder, server, *, shared=(), rows=ROWS, clock=None) -> None:
        self.told = []
        self.used = set()
        self.let_go_of = []
        self.files = ModelFiles(
            folder,
            lambda model: [own_file(model, server.url)],
            self.told.append,
            self.release,
            clock or SystemClock(),
            catalogue=rows,
            shared=shared,
            waits_s=(),
        )

    async def release(self, path):
        self.let_go_of.append(path)
        return path not in self.used

    async def file(self, name="tried"):
        return next(file for file in await self.files.list() if file.model.name == name)

    async def state(self, name="tried"):
        return (await self.file(name)).state

    async def fetched(self, name="tried"):
        await self.files.fetch(name)
        await until(lambda: self.told[-1].state not in ("fetching", "missing"))
        return self.told[-1]


@asynccontextmanager
async def opened(*args, **kwargs):
    house = House(*args, **kwargs)
    try:
        yield house
    finally:
        await house.files.close()


@pytest.fixture
def server():
    with FileServer({"tried.gguf": CONTENT, "small.gguf": OTHER}, piece_bytes=100_000) as server:
        yield server


async def growing(folder):
    await until(lambda: part_path(folder).exists() and part_path(folder).stat().st_size)


async def test_nothing_is_downloaded_unasked(tmp_path, server):
    async with opened(tmp_path / "models", server) as house:
        assert [(file.model.name, file.state, file.done_bytes) for file in await house.files.list()] == [
            ("tried", "missing", 0),
            ("small", "missing", 0),
        ]
    assert server.ranges == []
    assert not (tmp_path / "models").exists()


async def test_downloaded_model_is_ready_and_removable(tmp_path, server):
    async with opened(tmp_path, server) as house:
        file = await house.fetched()
        assert (file.state, file.done_bytes, file.path, file.removable) == (
            "ready",
            SIZE_BYTES,
            file_path(tmp_path),
            True,
        )
        assert [one.state for one in house.told][:-1] == ["fetching"] * (len(house.told) - 1)
        assert (await house.files.fetch("local/tried")).state == "ready"
        assert len(server.ranges) == 1
        assert (await house.files.remove("tried")).state == "missing"
        assert not file_path(tmp_path).exists()
        assert house.told[-1].state == "missing"


async def test_progress_is_reported_at_most_four_times_a_second(tmp_path, server):
    clock = FakeClock()
    async with opened(tmp_path, server, clock=clock) as house:
        await house.fetched()
    kept = [one.done_bytes for one in house.told if one.state == "fetching"]
    assert len(kept) <= 3, "the beginning, and once for each source"


async def test_pause_keeps_partial_file_and_resume_continues(tmp_path, server):
    server.pause_s = 0.05
    async with opened(tmp_path, server) as house:
        assert (await house.files.fetch("tried")).state == "fetching"
        await growing(tmp_path)
        paused = await house.files.pause("tried")
        assert paused.state == "paused"
        assert 0 < paused.done_bytes == part_path(tmp_path).stat().st_size < SIZE_BYTES
        assert (await house.files.pause("tried")).state == "paused", "twice does no harm"
        server.pause_s = 0
        assert (await house.fetched()).state == "ready"
    assert server.ranges == [None, f"bytes={paused.done_bytes}-"]


async def test_new_server_shows_partial_download_as_paused(tmp_path, server):
    part_path(tmp_path).write_bytes(CONTENT[:1000])
    async with opened(tmp_path, server) as house:
        file = await house.file()
    assert (file.state, file.done_bytes, file.error) == ("paused", 1000, None)
    assert server.ranges == []


async def test_removing_a_download_cancels_it(tmp_path, server):
    server.pause_s = 0.05
    async with opened(tmp_path, server) as house:
        await house.files.fetch("tried")
        await growing(tmp_path)
        assert (await house.files.remove("tried")).state == "missing"
        assert not part_path(tmp_path).exists()


async def test_network_failure_pauses_with_reason_and_wrong_hash_fails(tmp_path, server):
    server.breaks = [SIZE_BYTES // 2]
    server.files["small.gguf"] = CONTENT
    async with opened(tmp_path, server) as house:
        paused = await house.fetched()
        assert (paused.state, paused.done_bytes) == ("paused", SIZE_BYTES // 2)
        assert "the download continues where it stopped" in paused.error
        failed = await house.fetched("small")
        assert (failed.state, failed.done_bytes) == ("failed", 0)
        assert SMALL.sha256 in failed.error
        server.files["small.gguf"] = OTHER
        assert (await house.files.fetch("small")).error is None
        await until(lambda: house.told[-1].state == "ready")


async def test_full_disk_pauses_with_hint_and_resumes_with_space(tmp_path, server, monkeypatch):
    class OnAFullDisk(PartFile):
        def append(self, data):
            if self.size + len(data) > SIZE_BYTES // 2:
                with disk_errors("write", part_path(tmp_path)):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            super().append(data)

    server.pause_s = 0.02
    async with opened(tmp_path, server) as house:
        with monkeypatch.context() as disk:
            disk.setattr(file_download, "PartFile", OnAFullDisk)
            paused = await house.fetched()
        assert paused.state == "paused"
        assert 0 < paused.done_bytes == part_path(tmp_path).stat().st_size < SIZE_BYTES
        told = f"Could not write {part_path(tmp_path)}: No space is left on the disk. Free some, then try again."
        assert paused.error == told
        assert not file_path(tmp_path).exists()
        assert (await house.files.fetch("tried")).error is None
        await until(lambda: house.told[-1].state == "ready")
    assert file_path(tmp_path).read_bytes() == CONTENT
    assert server.ranges[-1] == f"bytes={paused.done_bytes}-"


async def test_model_in_use_is_not_removed_with_hint(tmp_path, server):
    async with opened(tmp_path, server) as house:
        await house.fetched()
        house.used.add(file_path(tmp_path))
        with pytest.raises(ModelError, match="is in use") as caught:
            await house.files.remove("tried")
        assert "Stop the answer" in caught.value.hint
        assert await house.state() == "ready"
        house.used.clear()
        assert (await house.files.remove("tried")).state == "missing"


async def test_shared_file_is_found_and_removed_only_if_requested(tmp_path, server):
    shared = tmp_path / "shared"
    shared.mkdir()
    file_path(shared).write_bytes(CONTENT)
    async with opened(tmp_path / "own", server, shared=[shared]) as house:
        file = await house.file()
        assert (file.state, file.is_shared, file.path, file.removable) == ("ready", True, file_path(shared), True)
        with pytest.raises(InvalidRequest, match=str(file_path(shared))):
            await house.files.remove("tried")
        assert file_path(shared).exists()
        assert (await house.files.remove("tried", shared=True)).state == "missing"


async def test_interrupted_copy_is_not_ready(tmp_path, server):
    file_path(tmp_path).write_bytes(CONTENT[:-1])
    async with opened(tmp_path, server) as house:
        assert await house.state() == "missing"
        await house.fetched()
    assert file_path(tmp_path).read_bytes() == CONTENT


async def test_first_model_that_fits_is_recommended(tmp_path, server, monkeypatch):
    rows = (row(memory_bytes=4_000_000_000, roomy_bytes=8_000_000_000), row(OTHER, name="small", memory_bytes=10**9))
    async with opened(tmp_path, server, rows=rows) as house:
        for free, fits, recommended in (
            (8e9, [True, True], [True, False]),
            (7e9, [True, True], [False, True]),
            (2e9, [False, True], [False, True]),
            (5e8, [False, False], [False, True]),
        ):
            monkeypatch.setattr(model_files, "free_memory_bytes", lambda free=free: int(free))
            files = await house.files.list()
            assert [file.fits_memory for file in files] == fits
            assert [file.recommended for file in files] == recommended


async def test_second_server_follows_download_of_first(tmp_path, server):
    server.pause_s = 0.05
    async with opened(tmp_path, server) as one, opened(tmp_path, server) as other:
        await one.files.fetch("tried")
        await growing(tmp_path)
        seen = await other.files.fetch("tried")
        assert (seen.state, seen.done_bytes > 0) == ("fetching", True)
        assert "another process" in seen.fetcher
        for refused in (other.files.pause, other.files.remove):
            with pytest.raises(InvalidRequest, match="is being downloaded by another process"):
                await refused("tried")
        await until(lambda: other.told and other.told[-1].state == "ready")
        assert len({told.done_bytes for told in other.told}) > 2
    assert len(server.ranges) == 1
    assert DownloadLock(tmp_path, "tried.gguf").owner() is None


async def test_closing_server_hands_download_to_next(tmp_path, server):
    server.pause_s = 0.05
    async with opened(tmp_path, server) as house:
        await house.files.fetch("tried")
        await growing(tmp_path)
    server.pause_s = 0
    async with opened(tmp_path, server) as house:
        assert await house.state() == "paused"
        await house.fetched()
    assert file_path(tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("name", ["", "other", "../tried", "local/", "tried.gguf"])
async def test_unknown_name_lists_existing_ones(tmp_path, server, name):
    async with opened(tmp_path, server) as house:
        for act in (house.files.fetch, house.files.pause, house.files.remove):
            with pytest.raises(NotFound, match="local/tried, local/small"):
                await act(name)


async def test_stopping_at_start_leaves_no_lock(tmp_path, server):
    async with opened(tmp_path, server) as house:
        for _ in range(5):
            await house.files.fetch("tried")
            await asyncio.sleep(0)
            await house.files.pause("tried")
        assert (await house.fetched()).state == "ready"
