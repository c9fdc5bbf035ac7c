"""A model file at an HTTP address: the Hugging Face hub, or a self-hosted server. Only missing bytes are fetched."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.local_files.catalogue import CatalogueModel, HubFile
from onyx_jupyter.providers.local_files.source import DownloadInterrupted, FileNotAvailable
from onyx_jupyter.providers.network_guard import check_allowed

if TYPE_CHECKING:
    import httpx

HUB = "https://huggingface.co"
_CONNECT_S = 10.0
_SILENCE_S = 30.0
_LATER = frozenset({408, 425, 429, 500, 502, 503, 504})
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class HttpFile:
    """A `Source`. The address is never shown in full: it may contain a password."""

    def __init__(
        self,
        name: str,
        url: str,
        size_bytes: int,
        headers: Mapping[str, str] | None = None,
        *,
        silence_s: float = _SILENCE_S,
    ) -> None:
        """A server that sends nothing for `silence_s` counts as broken off."""
        self._name = name
        self._url = url
        self._size_bytes = size_bytes
        self._headers = dict(headers or {})
        self._silence_s = silence_s

    @property
    def name(self) -> str:
        return self._name

    async def read(self, offset: int) -> AsyncGenerator[bytes, None]:
        """Raises: FileNotAvailable, DownloadInterrupted."""
        import httpx

        try:
            client = await asyncio.to_thread(self._client)  # it reads certificates
            async with client, client.stream("GET", self._url, headers=self._wanted(offset)) as response:
                skip = self._skip(response, offset)
                async for chunk in response.aiter_raw():
                    if len(chunk) > skip:
                        yield chunk[skip:]
                    skip = max(0, skip - len(chunk))
        except ModelError as refused:
            raise FileNotAvailable(str(refused)) from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.TooManyRedirects) as error:
            raise FileNotAvailable(f"its address cannot be used: {error}") from None
        except httpx.HTTPError as error:
            raise DownloadInterrupted(self._reason(error)) from None

    def _client(self) -> httpx.AsyncClient:
        import httpx

        async def guard(request: httpx.Request) -> None:
            check_allowed(str(request.url), self._name)

        return httpx.AsyncClient(
            timeout=httpx.Timeout(self._silence_s, connect=_CONNECT_S),
            follow_redirects=True,
            event_hooks={"request": [guard]},  # for each redirect, too
        )

    def _wanted(self, offset: int) -> dict[str, str]:
        # Uncompressed: a compressed body cannot be resumed in the middle.
        headers = {**self._headers, "accept-encoding": "identity"}
        return headers | ({"range": f"bytes={offset}-"} if offset else {})

    def _skip(self, response: httpx.Response, offset: int) -> int:
        """How many bytes of the answer to skip: all before `offset`, if the server cannot begin there."""
        status = response.status_code
        if status in _LATER:
            raise DownloadInterrupted(f"it answered HTTP {status}")
        if status not in (200, 206):
            raise FileNotAvailable(f"it answered HTTP {status}")
        start, total = 0, response.headers.get("content-length", "*")
        if status == 206:
            found = _CONTENT_RANGE.fullmatch(response.headers.get("content-range", ""))
            if found is None or int(found[1]) > offset:
                raise FileNotAvailable("it sent a different part of the file than requested")
            start, total = int(found[1]), found[2]
        if total.isdecimal() and int(total) != self._size_bytes:
            raise FileNotAvailable(f"its file has {int(total):,} bytes, not {self._size_bytes:,}")
        return offset - start

    def _reason(self, error: Exception) -> str:
        """The error in words; the library's own are often empty, and some show an address."""
        import httpx

        if isinstance(error, httpx.ConnectTimeout | httpx.ConnectError):
            return f"it could not be reached ({error})" if str(error) else "it could not be reached"
        if isinstance(error, httpx.TimeoutException):
            return f"no data arrived for {self._silence_s:g} s"
        return f"the connection was lost ({type(error).__name__})"


def hub_file(model: CatalogueModel, file: HubFile, environment: Mapping[str, str] = os.environ) -> HttpFile | None:
    """The hub, or a mirror of it (`HF_ENDPOINT`), with the user's token if there is one; None if it is turned off."""
    if environment.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return None
    endpoint = (environment.get("HF_ENDPOINT") or HUB).rstrip("/")
    token = environment.get("HF_TOKEN")
    name = "Hugging Face" if endpoint == HUB else _host(endpoint)
    url = f"{endpoint}/{file.repository}/resolve/main/{quote(file.file_name)}"
    return HttpFile(name, url, model.size_bytes, {"authorization": f"Bearer {token}"} if token else None)


def own_file(model: CatalogueModel, base_url: str) -> HttpFile:
    """A file of that name below a configured address."""
    return HttpFile(_host(base_url), f"{base_url.rstrip('/')}/{quote(model.file_name)}", model.size_bytes)


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2] or url
