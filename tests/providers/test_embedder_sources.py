"""Which embedders the configuration allows, in which order, and where texts may be sent."""

from __future__ import annotations

from typing import Any

import pytest

from onyx_jupyter.agents.settings import embedding_settings
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.config.load import load_config
from onyx_jupyter.config.schema import Config
from onyx_jupyter.errors import ConfigError, EmbeddingError
from onyx_jupyter.protocols.retrieval import EmbedderIdentity
from onyx_jupyter.providers.embedders.model_tags import marked, tag_of, unmarked
from onyx_jupyter.providers.embedders.sources import embedder_sources, open_embeddings
from onyx_jupyter.security.secret_redactor import SecretRedactor
from onyx_jupyter.testing.embedding_server import EmbeddingServer

API = "openai/text-embedding-3-small"
SECRET = "correct-horse-battery-staple"


def providers_of(memory: dict[str, Any] | None = None, **providers: dict[str, Any]) -> list[str]:
    config = Config.model_validate({"memory": memory or {}, "providers": providers})
    return [source.provider for source in embedder_sources(embedding_settings(config, Ceiling()), SystemClock())]


def test_without_configuration_no_text_leaves_the_machine() -> None:
    assert providers_of() == ["ollama", "local"]
    assert providers_of(openai={"apiKey": "sk-0123456789"}) == ["ollama", "local"], "a key is no word for sending texts"
    assert providers_of(ollama={"baseUrl": "http://gpu.example:11434"}) == ["local"]


def test_configured_model_may_receive_texts() -> None:
    assert providers_of({"embeddingModel": API}) == ["ollama", "openai", "local"]
    far = {"baseUrl": "http://gpu.example:11434"}
    assert providers_of({"embeddingModel": "ollama/bge-m3"}, ollama=far) == ["ollama", "local"]
    assert providers_of({"embedder": "ollama"}, ollama=far) == ["ollama"]


def test_other_running_models_are_ignored() -> None:
    agents = {"defaults": {"model": "openai/gpt-5.2"}}
    assert embedding_settings(Config.model_validate({"agents": agents}), Ceiling()) == embedding_settings(
        Config(), Ceiling()
    )


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        ({"embedder": "local", "embeddingModel": API}, ["local"]),
        ({"embedder": "api", "embeddingModel": API}, ["openai"]),
        ({"embedder": "none", "embeddingModel": API}, []),
    ],
)
def test_configured_embedder_is_the_only_candidate(memory: dict[str, Any], expected: list[str]) -> None:
    assert providers_of(memory) == expected


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"ONYX_MEMORY__EMBEDDER": "api"}, "embeddingModel must name"),
        ({"ONYX_MEMORY__EMBEDDER": "api", "ONYX_MEMORY__EMBEDDINGMODEL": "ollama/a"}, "embeddingModel must name"),
        ({"ONYX_MEMORY__EMBEDDER": "ollama", "ONYX_MEMORY__EMBEDDINGMODEL": API}, "not a model of openai"),
        ({"ONYX_MEMORY__EMBEDDER": "best"}, "memory.embedder"),
        ({"ONYX_MEMORY__EMBEDDINGMODEL": "text-embedding-3-small"}, "memory.embeddingModel"),
    ],
)
def test_contradictory_configuration_is_rejected(tmp_path: Any, variables: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        load_config(tmp_path / "onyx.json", variables)


async def test_configured_custom_server_gets_texts_without_secrets() -> None:
    with EmbeddingServer() as server:
        config = Config.model_validate(
            {
                "memory": {"embedder": "api", "embeddingModel": "lab/embedder"},
                "providers": {"lab": {"baseUrl": server.base_url}},
            }
        )
        redact = SecretRedactor({SECRET: "password"}).apply
        embeddings = open_embeddings(embedding_settings(config, Ceiling()), clock=SystemClock(), redact=redact)
        identity = await embeddings.current()
        assert identity is not None
        assert (identity.provider, unmarked(identity.model), identity.dimension) == ("lab", "embedder", 64)
        vectors = await embeddings.embed([f"The door opens with {SECRET}.", "x"], "passage", identity=identity)
        assert vectors.shape == (2, 64)
        assert server.texts[-1] == ["The door opens with [redacted:password].", "x"]
        assert SECRET not in f"{[request.body for request in server.requests]}"
        await embeddings.close()


async def test_same_model_name_on_another_server_is_another_embedder() -> None:
    async def identity_at(base_url: str, provider: str = "lab") -> EmbedderIdentity | None:
        memory = {"embedder": "api", "embeddingModel": f"{provider}/embedder"}
        config = Config.model_validate({"memory": memory, "providers": {provider: {"baseUrl": base_url}}})
        embeddings = open_embeddings(embedding_settings(config, Ceiling()), clock=SystemClock(), redact=str)
        identity = await embeddings.current()
        await embeddings.close()
        return identity

    with EmbeddingServer() as one, EmbeddingServer() as other:
        first = await identity_at(one.base_url)
        assert first is not None
        assert await identity_at(one.base_url) == first
        assert await identity_at(f"{one.base_url}/") == first
        second = await identity_at(other.base_url)
        assert second is not None
        assert second != first
        assert one.base_url not in first.model
        assert unmarked(first.model) == "embedder", "which is what its person is told"


@pytest.mark.parametrize("model", ["text-embedding-3-small", "text-embedding@004", "lab/bge-m3", "a@latest"])
def test_name_without_prefix_is_reported_unchanged(model: str) -> None:
    assert unmarked(model) == model
    assert unmarked(marked(model, tag_of("http://gpu.example/v1"))) == model


async def test_running_ollama_is_preferred_and_its_end_leaves_word_search() -> None:
    server = EmbeddingServer()
    server.start()
    config = Config.model_validate({"providers": {"ollama": {"baseUrl": server.ollama_url}}})
    embeddings = open_embeddings(embedding_settings(config, Ceiling()), clock=SystemClock(), redact=str)
    identity = await embeddings.current()
    assert identity is not None
    assert identity.provider == "ollama"
    server.stop()
    with pytest.raises(EmbeddingError, match="no response"):
        await embeddings.embed(["text"], "query", identity=identity)
    assert await embeddings.current() == identity
    assert "only keywords are searched" in str(embeddings.problem)
    await embeddings.close()


async def test_without_ollama_embedded_embedder_is_used_and_nothing_reported() -> None:
    with EmbeddingServer() as server:
        gone = server.ollama_url
    config = Config.model_validate({"providers": {"ollama": {"baseUrl": gone}}})
    embeddings = open_embeddings(embedding_settings(config, Ceiling()), clock=SystemClock(), redact=str)
    identity = await embeddings.current()
    assert identity is not None
    assert (identity.provider, embeddings.problem) == ("local", None)
    await embeddings.close()


async def test_unknown_provider_is_reported_and_word_search_remains() -> None:
    config = Config.model_validate({"memory": {"embedder": "api", "embeddingModel": "nowhere/model"}})
    embeddings = open_embeddings(embedding_settings(config, Ceiling()), clock=SystemClock(), redact=str)
    assert await embeddings.current() is None
    assert 'no provider "nowhere"' in str(embeddings.problem)
    await embeddings.close()


async def test_offline_switch_applies_to_embedders() -> None:
    memory = {"embedder": "api", "embeddingModel": "lab/embedder"}
    providers = {"lab": {"baseUrl": "http://gpu.example/v1"}}
    settings = embedding_settings(Config.model_validate({"memory": memory, "providers": providers}), Ceiling())
    embeddings = open_embeddings(settings, clock=SystemClock(), redact=str)
    assert await embeddings.current() is None
    assert "ONYX_FORBID_PROVIDERS" in str(embeddings.problem)
    await embeddings.close()
