"""However a download is interrupted, a file with the final name is the verified file."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.local_files.file_download import FileDownload
from onyx_jupyter.providers.local_files.source import DownloadInterrupted, FileNotAvailable
from onyx_jupyter.providers.local_files.storage_folders import find_file, part_of
from tests.providers.local_files.rows import row

CONTENT = bytes(range(256)) * 40
ROW = row(CONTENT)
LIE = bytes(len(CONTENT))
OFFSETS = st.integers(0, len(CONTENT))


class Breaking:
    """Gives `content` in pieces, and breaks off after each of `breaks` bytes; then it ends or does not have it."""

    def __init__(self, name: str, content: bytes, breaks: list[int], piece: int, ends: type[Exception] | None) -> None:
        self.name = name
        self._content = content
        self._breaks = list(breaks)
        self._piece = piece
        self._ends = ends

    async def read(self, offset: int):
        if not self._breaks and self._ends is not None:
            raise self._ends("it does not go on")
        end = offset + self._breaks.pop(0) if self._breaks else len(self._content)
        for at in range(offset, min(end, len(self._content)), self._piece):
            yield self._content[at : min(at + self._piece, end)]
        if end < len(self._content):
            raise DownloadInterrupted("it broke off")


SOURCES = st.builds(
    Breaking,
    st.sampled_from("abc"),
    st.sampled_from([CONTENT, LIE, CONTENT + b"more", CONTENT[:-5]]),
    st.lists(OFFSETS, max_size=3),
    st.integers(1, 5000),
    st.sampled_from([None, None, FileNotAvailable, DownloadInterrupted]),
)
BEGINNINGS = st.one_of(OFFSETS.map(lambda at: CONTENT[:at]), OFFSETS.map(lambda at: LIE[:at]), st.binary(max_size=99))


async def fetch(folder: Path, sources: list[Breaking]) -> str:
    async def at_once(seconds: float) -> None:
        pass

    try:
        await FileDownload(ROW, folder, sources, lambda done, name: None, waits_s=(1,) * 9, sleep=at_once).run()
    except ModelError as error:
        return error.code
    return "ready"


@settings(max_examples=60, deadline=None)
@given(beginning=BEGINNINGS, sources=st.lists(SOURCES, min_size=1, max_size=3, unique_by=lambda source: source.name))
def test_only_verified_file_gets_its_name_and_honest_source_succeeds(beginning: bytes, sources: list[Breaking]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        part_of(folder, ROW).write_bytes(beginning)
        end = asyncio.run(fetch(folder, sources))
        found = find_file(ROW, [folder])
        assert (found is not None) == (end == "ready")
        assert found is None or found.read_bytes() == CONTENT
        honest = Breaking("honest", CONTENT, [], 4096, None)
        assert asyncio.run(fetch(folder, [honest])) == "ready"
        assert find_file(ROW, [folder]).read_bytes() == CONTENT


@settings(max_examples=60, deadline=None)
@given(at=OFFSETS, breaks=st.lists(st.integers(1, len(CONTENT)), max_size=3), piece=st.integers(1, 5000))
def test_valid_beginning_is_never_downloaded_again(at: int, breaks: list[int], piece: int) -> None:
    class Counting(Breaking):
        given = 0

        async def read(self, offset: int):
            async for chunk in super().read(offset):
                Counting.given += len(chunk)
                yield chunk

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        part_of(folder, ROW).write_bytes(CONTENT[:at])
        assert asyncio.run(fetch(folder, [Counting("a", CONTENT, breaks, piece, None)])) == "ready"
        assert Counting.given == len(CONTENT) - at
