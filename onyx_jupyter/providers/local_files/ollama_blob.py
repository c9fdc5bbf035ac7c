"""A model file that Ollama has on this machine: its files are named by their hash. Ollama itself is not asked."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path

from onyx_jupyter.providers.local_files.catalogue import CatalogueModel
from onyx_jupyter.providers.local_files.source import DownloadInterrupted, FileNotAvailable
from onyx_jupyter.providers.local_files.storage_folders import size_of

_CHUNK_BYTES = 4 * 1024 * 1024
# Where the service that Ollama's installer sets up, with a user of its own, keeps them.
_SERVICES = ("/usr/share/ollama/.ollama/models", "/var/lib/ollama/.ollama/models")


class OllamaBlob:
    """A `Source`. The file is copied rather than linked, so that neither program can remove the other's file."""

    name = "Ollama on this machine"

    def __init__(self, model: CatalogueModel, folders: Sequence[Path]) -> None:
        self._places = [folder / "blobs" / f"sha256-{model.sha256}" for folder in folders]
        self._size_bytes = model.size_bytes

    async def read(self, offset: int) -> AsyncGenerator[bytes, None]:
        """Raises: FileNotAvailable, DownloadInterrupted."""
        path = await asyncio.to_thread(self._find)
        if path is None:
            raise FileNotAvailable("it does not have the file")
        try:
            while chunk := await asyncio.to_thread(_piece, path, offset):
                yield chunk
                offset += len(chunk)
        except OSError as error:
            raise DownloadInterrupted(f"its file could not be read: {error.strerror or error}") from None

    def _find(self) -> Path | None:
        return next((path for path in self._places if size_of(path) == self._size_bytes), None)


def ollama_folders(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Folders in which Ollama may keep its models."""
    chosen = environment.get("OLLAMA_MODELS")
    own = Path(chosen) if chosen else Path("~/.ollama/models").expanduser()
    return [own, *(Path(place) for place in _SERVICES)]


def _piece(path: Path, offset: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(_CHUNK_BYTES)
