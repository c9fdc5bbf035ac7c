"""A server on loopback with embedding models, in OpenAI's form and in Ollama's.

`with EmbeddingServer() as server:`; `server.base_url` speaks OpenAI's protocol, `server.ollama_url` Ollama's.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from onyx_jupyter.testing.fake_embedder import FakeEmbedder
from onyx_jupyter.testing.script import Cut, Hang, Hold, HttpError, Page, Raw
from onyx_jupyter.testing.scripted_model import until_set
from onyx_jupyter.testing.scripted_server import Received, ScriptedServer, send_bytes, send_json, sent_key

Rows = list[list[float]]
Reply = HttpError | Page | Raw | Cut | Hang | Hold | Rows | None


class EmbeddingServer(ScriptedServer):
    """Answers with FakeEmbedder's vectors, scaled beyond length 1; `replies` replace the first answers, None keeps one.

    `digests` maps the installed models to their digests; `texts` holds the texts of each embedding request. A request
    with a text over `max_chars` is refused, as for a model's context window.
    """

    def __init__(
        self,
        replies: Sequence[Reply] = (),
        *,
        models: Sequence[str] = ("nomic-embed-text:latest", "embedder"),
        dimension: int = 64,
        max_chars: int | None = None,
        api_key: str | None = None,
        port: int = 0,
    ) -> None:
        super().__init__([], models=models, api_key=api_key, port=port)
        self.replies = list(replies)
        self.digests = {name: hashlib.sha256(name.encode()).hexdigest() for name in models}
        self.texts: list[list[str]] = []
        self.max_chars = max_chars
        self._required_key = api_key
        self._embedder = FakeEmbedder(dimension=dimension)

    @property
    def ollama_url(self) -> str:
        """The value for `providers.ollama.baseUrl`."""
        return self.base_url.removesuffix("/v1")

    async def answer(self, request: Received, writer: asyncio.StreamWriter) -> None:
        """Ollama's list of models, or vectors."""
        path = request.path
        if self._required_key is not None and sent_key(request) != self._required_key:
            return await self._fail(
                request, writer, HttpError(401, f"Incorrect API key provided: {sent_key(request)}.")
            )
        if path == "/api/tags":
            models = [{"name": name, "model": name, "digest": digest} for name, digest in self.digests.items()]
            return await send_json(writer, 200, {"models": models})
        if path not in ("/api/embed", "/v1/embeddings"):
            return await self._fail(request, writer, HttpError(404, f"There is no {path} here."))
        return await self._embed(request, writer)

    async def _embed(self, request: Received, writer: asyncio.StreamWriter) -> None:
        given = request.body.get("input", [])
        texts = [given] if isinstance(given, str) else list(given)
        self.texts.append(texts)
        if self.max_chars is not None and any(len(text) > self.max_chars for text in texts):
            return await self._fail(request, writer, HttpError(413, "A text has more tokens than allowed."))
        reply = self.replies.pop(0) if self.replies else None
        match reply:
            case HttpError():
                return await self._fail(request, writer, reply)
            case Page():
                return await send_bytes(writer, reply.status, "text/html", reply.html.encode())
            case Raw():
                return await send_bytes(writer, 200, "application/json", reply.data)
            case Cut():
                writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n{"')
                await writer.drain()
                writer.close()
                return None
            case Hang():
                reply.reached.set()
                await asyncio.Event().wait()
            case Hold():
                reply.reached.set()
                await until_set(reply.released)
        rows = reply if isinstance(reply, list) else (3 * await self._embedder.embed(texts, "passage")).tolist()
        body = _ollama(request.body, rows) if _is_ollama(request) else _openai(request.body, rows)
        # NaN is sent as it is: JSON has no word for it, but some servers write it.
        return await send_bytes(writer, 200, "application/json", json.dumps(body).encode())

    async def _fail(self, request: Received, writer: asyncio.StreamWriter, error: HttpError) -> None:
        words = {"message": error.message, "type": "scripted_error", "code": error.code}
        body = {"error": error.message if _is_ollama(request) else words}
        await send_json(writer, error.status, body, error.headers)


def _openai(asked: Mapping[str, Any], rows: Rows) -> dict[str, Any]:
    """The last vector first: only `index` gives their order."""
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
    usage = {"prompt_tokens": len(rows), "total_tokens": len(rows)}
    return {"object": "list", "model": asked.get("model"), "data": data[::-1], "usage": usage}


def _ollama(asked: Mapping[str, Any], rows: Rows) -> dict[str, Any]:
    return {"model": asked.get("model"), "embeddings": rows, "total_duration": 1, "prompt_eval_count": len(rows)}


def _is_ollama(request: Received) -> bool:
    return request.path.startswith("/api/")
