"""One suite for all embedders: the embedded one, the others over a socket by their servers' protocols."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from onyx_jupyter.clock import SystemClock
from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.protocols.retrieval import Embedder
from onyx_jupyter.providers.embedders.api import ApiSource
from onyx_jupyter.providers.embedders.local import LocalEmbedder
from onyx_jupyter.providers.embedders.ollama import OllamaSource
from onyx_jupyter.providers.embedders.source import EmbedderSource
from onyx_jupyter.providers.litellm_library import close_litellm
from onyx_jupyter.providers.retry import RetryDelays, RetryPolicy
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.testing.embedding_server import EmbeddingServer, Reply
from onyx_jupyter.testing.script import Cut, Hang, HttpError, Page, Raw

# LiteLLM's own code warns; only warnings of ours are failures.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Accessing the 'model_:DeprecationWarning", "ignore:.*`ReadOnly` qualifier:UserWarning"
)
KEY = "a-key-in-no-known-shape-7"
TEXTS = ["The cat sat on the mat.", "Quarterly revenue grew.", "", "\ud83d half of a pair", "日本語のテキスト\x00"]
REMOTE = ["ollama", "openai", "litellm"]


@dataclass(frozen=True)
class Subject:
    """A source with its server (None for the embedded one); `waited` lists the waits between two tries."""

    kind: str
    source: EmbedderSource
    server: EmbeddingServer | None
    waited: list[float]

    async def embedder(self, *replies: Reply) -> Embedder:
        """Opened, with these answers of the server next."""
        embedder = await self.source.open()
        if self.server is not None:
            self.server.texts.clear()
            self.server.replies = list(replies)
        return embedder


def source_of(kind: str, server: EmbeddingServer, waits: RetryDelays, key: str = KEY) -> EmbedderSource:
    retry = RetryPolicy(attempts=3, max_wait_s=30)
    if kind == "ollama":
        return OllamaSource("nomic-embed-text", server.ollama_url, api_key=key, expected=True, waits=waits, retry=retry)
    name = {"openai": "lab", "litellm": "lm_studio"}[kind]
    settings = ModelsSettings({name: ProviderSettings(api_key=key, base_url=server.base_url)})
    return ApiSource(f"{name}/embedder", settings, waits=waits, retry=retry)


@contextlib.asynccontextmanager
async def opened(kind: str, key: str = KEY) -> AsyncGenerator[Subject, None]:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    with EmbeddingServer(api_key=KEY) as server:
        local = kind == "local"
        source = (
            LocalEmbedder(SystemClock()) if local else source_of(kind, server, RetryDelays(sleep, lambda: 0.5), key)
        )
        try:
            yield Subject(kind, source, None if local else server, waited)
        finally:
            await source.close()
            await close_litellm()


@pytest.mark.parametrize("kind", ["local", *REMOTE])
async def test_vectors_have_unit_length_and_declared_dimension(kind: str) -> None:
    async with opened(kind) as subject:
        embedder = await subject.embedder()
        vectors = await embedder.embed(TEXTS, "passage")
        assert vectors.shape == (len(TEXTS), embedder.identity.dimension)
        assert vectors.dtype == np.float32
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        assert (await embedder.embed([], "query")).shape == (0, embedder.identity.dimension)


@pytest.mark.parametrize("kind", ["local", *REMOTE])
async def test_vector_does_not_depend_on_position_in_batch(kind: str) -> None:
    async with opened(kind) as subject:
        embedder = await subject.embedder()
        many = [f"sentence number {number} about topic {number % 7}" for number in range(70)]
        vectors = await embedder.embed(many, "passage")
        alone = [(await embedder.embed([many[place]], "passage"))[0] for place in (0, 13, 63, 64, 69)]
        assert np.allclose(vectors[[0, 13, 63, 64, 69]], alone, atol=1e-5)


@pytest.mark.parametrize("kind", ["local", *REMOTE])
async def test_identity_is_stable_across_checks(kind: str) -> None:
    async with opened(kind) as subject:
        assert (await subject.source.open()).identity == (await subject.source.open()).identity
        assert (await subject.source.open()).identity.provider == subject.source.provider


@pytest.mark.parametrize("kind", ["local", *REMOTE])
async def test_one_megabyte_text_is_embedded(kind: str) -> None:
    async with opened(kind) as subject:
        embedder = await subject.embedder()
        assert (await embedder.embed(["word " * 200_000], "query")).shape == (1, embedder.identity.dimension)
        if subject.server is not None:
            assert len(subject.server.texts[-1][0]) < 10_000, "more is sent than any model reads"


@pytest.mark.parametrize("kind", REMOTE)
async def test_texts_are_sent_in_batches_of_64_without_empty_ones(kind: str) -> None:
    async with opened(kind) as subject:
        await (await subject.embedder()).embed(["", *[f"text {number}" for number in range(129)]], "passage")
        assert subject.server is not None
        assert [len(texts) for texts in subject.server.texts] == [64, 64, 2]
        assert all(text.strip() for texts in subject.server.texts for text in texts)


@pytest.mark.parametrize("kind", REMOTE)
async def test_text_too_long_for_model_is_truncated_without_affecting_others(kind: str) -> None:
    async with opened(kind) as subject:
        embedder = await subject.embedder()
        assert subject.server is not None
        subject.server.max_chars = 700
        long = "alpha " * 100 + "omega " * 800
        vectors = await embedder.embed(["first", "second", long, "last"], "passage")
        subject.server.max_chars = None
        assert np.allclose(vectors[[0, 1, 3]], await embedder.embed(["first", "second", "last"], "passage"))
        beginning, end = await embedder.embed(["alpha " * 100, "omega " * 100], "passage")
        assert vectors[2] @ beginning > vectors[2] @ end + 0.2


@pytest.mark.parametrize("kind", REMOTE)
async def test_server_refusing_everything_is_soon_left_alone(kind: str) -> None:
    async with opened(kind) as subject:
        embedder = await subject.embedder(*[HttpError(400, "No.")] * 100)
        with pytest.raises(EmbeddingError, match="rejected the request"):
            await embedder.embed(["a text of a note " * 300] * 64, "passage")
        assert subject.server is not None
        assert len(subject.server.texts) < 15


NAN: Reply = [[math.nan] * 64]
BAD_ANSWERS: list[tuple[str, Reply, str]] = [
    ("NaN", NAN, "not a number"),
    ("infinite", [[math.inf] * 64], "not a number"),
    ("zeros", [[0.0] * 64], "zeros"),
    ("too many", [[1.0] * 64] * 2, "2 embeddings for 1 texts"),
    ("none", [], "embeddings"),
    ("another dimension", [[1.0] * 63], "size 63"),
    ("words", Raw(b'{"data": [{"index": 0, "embedding": ["a"]}], "embeddings": [["a"]]}'), "embeddings"),
    ("a list", Raw(b"[]"), "embeddings|must be a mapping"),
    ("no JSON", Raw(b'{"data"'), "an invalid response|failed"),
    ("a web page", Page(200, "<html><body>Sign in</body></html>"), "an invalid response|failed"),
    ("gone in the middle", Cut(), "no response|server error"),
    ("not found", HttpError(404, "model not found"), "has no model"),
    ("busy", HttpError(429, "Slow down."), "rate-limiting"),
    ("down", HttpError(503, f"Overloaded, key {KEY}."), "a server error"),
]


@pytest.mark.parametrize("kind", REMOTE)
@pytest.mark.parametrize(("reply", "words"), [pytest.param(*rest, id=name) for name, *rest in BAD_ANSWERS])
async def test_answer_without_usable_vectors_is_an_embedding_error(kind: str, reply: Reply, words: str) -> None:
    async with opened(kind) as subject:
        # The library asks once more over a connection that broke.
        again = isinstance(reply, Cut) and kind == "litellm"
        embedder = await subject.embedder(*[reply] * (2 if again else 1))
        with pytest.raises(EmbeddingError, match=words) as caught:
            await embedder.embed(["text"], "query")
        assert KEY not in f"{caught.value} {caught.value.hint}"
        assert subject.waited == [], "a query is not worth waiting for"
        assert (await embedder.embed(["text"], "query")).shape == (1, 64), "it does not recover"


@pytest.mark.parametrize("kind", REMOTE)
async def test_wrong_key_error_does_not_contain_the_key(kind: str) -> None:
    wrong = "another-key-in-no-known-shape"
    async with opened(kind, key=wrong) as subject:
        with pytest.raises(EmbeddingError, match="key is not valid") as caught:
            await subject.source.open()
        assert wrong not in f"{caught.value} {caught.value.hint}"
        assert "apiKey" in str(caught.value.hint)


@pytest.mark.parametrize("kind", REMOTE)
async def test_passages_are_resent_to_busy_server_after_requested_wait(kind: str) -> None:
    async with opened(kind) as subject:
        embedder = await subject.embedder(HttpError(429, "Slow down.", headers={"retry-after": "7"}), HttpError(503))
        assert (await embedder.embed(["text"], "passage")).shape == (1, 64)
        assert subject.waited == [7.0, 1.0]


@pytest.mark.parametrize("kind", REMOTE)
async def test_unresponsive_server_costs_at_most_the_timeout(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(kind) as subject:
        embedder = await subject.embedder(Hang())
        monkeypatch.setattr("onyx_jupyter.providers.embedders.remote.QUERY_S", 0.2)
        with pytest.raises(EmbeddingError, match="did not answer in time"):
            await embedder.embed(["text"], "query")


@pytest.mark.parametrize("kind", REMOTE)
async def test_cancelled_call_ends_its_request(kind: str) -> None:
    async with opened(kind) as subject:
        hang = Hang()
        embedder = await subject.embedder(hang)
        call = asyncio.create_task(embedder.embed(["text"], "passage"))
        assert await asyncio.to_thread(hang.reached.wait, 30)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert subject.server is not None
        assert await subject.server.requests[-1].client_left(10)


@pytest.mark.parametrize("kind", REMOTE)
async def test_missing_server_is_reported_immediately(kind: str) -> None:
    with EmbeddingServer() as server:
        source = source_of(kind, server, RetryDelays())
    with pytest.raises(EmbeddingError, match="no response"):
        await source.open()
    await source.close()
    await close_litellm()


@pytest.mark.parametrize("kind", ["ollama", "openai"])
async def test_local_server_is_never_reached_through_a_proxy(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with EmbeddingServer() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.ollama_url)
        async with opened(kind) as subject:
            await (await subject.embedder()).embed(["text"], "passage")
        assert proxy.requests == []


async def test_provider_with_query_and_passage_modes_gets_the_mode() -> None:
    with EmbeddingServer() as server:
        settings = ModelsSettings({"voyage": ProviderSettings(api_key=KEY, base_url=server.base_url)})
        source = ApiSource("voyage/voyage-3", settings)
        embedder = await source.open()
        await embedder.embed(["blue"], "query")
        await embedder.embed(["the sky"], "passage")
        sent = [(request.body["input"], request.body["input_type"]) for request in server.requests[1:]]
        assert sent == [(["blue"], "query"), (["the sky"], "document")]
        assert "encoding_format" not in server.requests[1].body, "which that provider refuses"
        await close_litellm()


async def test_ollama_uses_native_api_with_nomic_task_prefixes() -> None:
    async with opened("ollama") as subject:
        embedder = await subject.embedder()
        await embedder.embed(["blue"], "query")
        await embedder.embed(["the sky"], "passage")
        assert subject.server is not None
        assert subject.server.texts == [["search_query: blue"], ["search_document: the sky"]]
        assert {request.path for request in subject.server.requests} == {"/api/tags", "/api/embed"}


async def test_repulled_model_has_a_new_identity() -> None:
    async with opened("ollama") as subject:
        first = (await subject.source.open()).identity
        assert subject.server is not None
        subject.server.digests["nomic-embed-text:latest"] = "f" * 64
        second = (await subject.source.open()).identity
        assert replace(second, model=first.model) == first
        assert second.model != first.model


async def test_model_missing_in_ollama_is_reported_with_pull_command() -> None:
    with EmbeddingServer(models=["llama3:latest"]) as server:
        source = OllamaSource("nomic-embed-text", server.ollama_url, expected=True)
        with pytest.raises(EmbeddingError, match="has no model") as caught:
            await source.open()
        assert caught.value.hint == "ollama pull nomic-embed-text"
        assert server.texts == []
        await source.close()


async def test_other_server_on_ollama_port_is_skipped() -> None:
    with EmbeddingServer() as server:
        source = OllamaSource("nomic-embed-text", f"{server.ollama_url}/elsewhere", expected=True)
        with pytest.raises(EmbeddingError):
            await source.open()
        await source.close()


MEANINGS: Sequence[tuple[str, str, str]] = [
    ("Where do we keep the raw measurements?", "The unprocessed sensor readings are in the data folder.", "Cats purr."),
    ("How do I get to work?", "My commute takes forty minutes by train.", "The recipe needs two eggs and some flour."),
    ("Who signs off on spending?", "Budget approvals go through Maria.", "The meeting room has a broken projector."),
]


@pytest.mark.parametrize(("query", "near", "far"), MEANINGS)
async def test_embedded_embedder_matches_paraphrases(query: str, near: str, far: str) -> None:
    async with opened("local") as subject:
        embedder = await subject.embedder()
        asked = (await embedder.embed([query], "query"))[0]
        first, second = await embedder.embed([near, far], "passage")
        assert asked @ first > asked @ second + 0.1


@pytest.mark.parametrize("kind", ["local", *REMOTE])
async def test_embedder_tells_without_a_call_whether_its_model_is_current(kind: str) -> None:
    async with opened(kind) as subject:
        identity = (await subject.embedder()).identity
        assert await subject.source.still_has(identity)
        assert subject.server is None or subject.server.texts == []


async def test_repulled_or_removed_model_is_not_current() -> None:
    async with opened("ollama") as subject:
        identity = (await subject.embedder()).identity
        assert subject.server is not None
        subject.server.digests["nomic-embed-text:latest"] = "0123456789abcdef"
        assert not await subject.source.still_has(identity)
        assert await subject.source.still_has((await subject.source.open()).identity)
        del subject.server.digests["nomic-embed-text:latest"]
        with pytest.raises(EmbeddingError, match="has no model"):
            await subject.source.still_has(identity)
