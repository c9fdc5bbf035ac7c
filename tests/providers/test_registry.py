import importlib.util
import os
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from onyx_jupyter.errors import ModelError
from onyx_jupyter.protocols import EFFORTS
from onyx_jupyter.providers import local_weights
from onyx_jupyter.providers.anthropic_model import AnthropicModel
from onyx_jupyter.providers.known_providers import COPILOT, KNOWN_PROVIDERS, LOGIN_PROVIDERS, known_provider
from onyx_jupyter.providers.litellm_model import LiteLLMModel
from onyx_jupyter.providers.local_files.catalogue import CATALOGUE, CatalogueModel, megabytes
from onyx_jupyter.providers.local_weights import find_weights
from onyx_jupyter.providers.model_list import MODELS_PER_PROVIDER, newest_chat_models
from onyx_jupyter.providers.openai_model import OpenAIModel
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.responses_model import ResponsesModel
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.testing.no_real_providers import no_real_providers
from onyx_jupyter.testing.scripted_server import ScriptedServer

KEY_VARIABLES = [name for provider in KNOWN_PROVIDERS.values() for name in provider.key_variables]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in KEY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("ONYX_FORBID_PROVIDERS", raising=False)
    return


def models(default_model: str = "", **providers: ProviderSettings) -> ProviderModels:
    return ProviderModels(ModelsSettings(providers, default_model=default_model))


def failure(model_id: str, registry: ProviderModels | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        (registry or models()).open(model_id)
    return caught.value


def test_missing_key_names_variable_and_setting() -> None:
    error = failure("openai/gpt-5")
    assert error.code == "authentication"
    assert "OPENAI_API_KEY" in (error.hint or "")
    assert "providers.openai.apiKey" in (error.hint or "")


def test_key_in_environment_or_settings_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    assert models(openai=ProviderSettings(api_key="secret-key")).open("openai/gpt-5").id == "openai/gpt-5"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret-key")
    assert models().open("anthropic/claude").id == "anthropic/claude"


def test_address_in_the_environment_is_where_requests_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://gateway.example")
    monkeypatch.setenv("OPENAI_API_BASE", "https://gateway.example/v1")
    with_keys = models(openai=ProviderSettings(api_key="secret-key"), anthropic=ProviderSettings(api_key="secret-key"))
    claude, gpt = with_keys.open("anthropic/claude"), with_keys.open("openai/gpt-5")
    assert isinstance(claude, AnthropicModel)
    assert claude.endpoint.address == "https://gateway.example"
    assert isinstance(gpt, OpenAIModel)
    assert gpt.endpoint.address == "https://gateway.example/v1"


def test_key_is_in_no_repr() -> None:
    settings = ProviderSettings(api_key="secret-key")
    assert "secret-key" not in repr(settings)
    model = models(openai=settings).open("openai/gpt-5")
    assert isinstance(model, ResponsesModel)
    assert "secret-key" not in repr(model.endpoint)


@pytest.mark.parametrize("model_id", ["", "gpt-5", "openai/", "opanai/gpt-5", "local/none"])
def test_unknown_id_names_value_and_allowed_ones(model_id: str) -> None:
    error = failure(model_id)
    assert error.code == "not_found"
    assert model_id.removeprefix("local/") in str(error)
    assert "local" in (error.hint or "")


def test_unknown_name_with_base_url_is_openai_compatible() -> None:
    model = models(mine=ProviderSettings(base_url="http://127.0.0.1:1/v1")).open("mine/org/model")
    assert isinstance(model, OpenAIModel)
    assert model.endpoint.provider.model == "org/model"


def test_openai_uses_responses_and_own_address_uses_chat_completions() -> None:
    own = ProviderSettings(base_url="http://127.0.0.1:1/v1", api_key="secret-key")
    assert isinstance(models(openai=own).open("openai/x"), OpenAIModel)
    itself = models(openai=ProviderSettings(api_key="secret-key")).open("openai/gpt-x")
    assert isinstance(itself, ResponsesModel)
    assert itself.endpoint.address == "https://api.openai.com/v1"


def test_each_row_of_the_table_that_is_spoken_to_directly_says_how_and_when_it_was_checked() -> None:
    direct = [row for row in KNOWN_PROVIDERS.values() if row.dialect.protocol != "litellm" and row.default_url is None]
    assert {"openai", "anthropic", "gemini", "deepseek", "openrouter"} <= {row.name for row in direct}
    for row in direct:
        assert row.address.startswith("https://")
        if row.checked or row.dialect.carried:
            assert date.fromisoformat(row.checked)
        assert set(row.dialect.efforts) <= set(EFFORTS)
        assert row.dialect.effort_field


def test_names_are_mapped_to_the_librarys() -> None:
    names = {}
    for model_id in ("vertex/gemini-x", "ollama/llama3.1", "bedrock/a.b", "azure/my-deployment", "cohere/command"):
        model = models(azure=ProviderSettings(api_key="secret-key")).open(model_id)
        assert isinstance(model, LiteLLMModel)
        names[model_id] = model.endpoint.litellm_name
    assert names == {
        "vertex/gemini-x": "vertex_ai/gemini-x",
        "ollama/llama3.1": "ollama_chat/llama3.1",
        "bedrock/a.b": "bedrock/a.b",
        "azure/my-deployment": "azure/my-deployment",
        "cohere/command": "cohere/command",
    }


@pytest.mark.parametrize("name", sorted(LOGIN_PROVIDERS))
def test_subscription_models_never_reach_library(name: str) -> None:
    signs_in_here = name == COPILOT
    assert (known_provider(name) is not None) == signs_in_here
    assert failure(f"{name}/model").code == ("authentication" if signs_in_here else "not_found")


def test_offline_switch_blocks_exactly_addresses_outside_this_machine() -> None:
    registry = models(
        openai=ProviderSettings(api_key="secret-key"),
        near=ProviderSettings(base_url="http://127.0.0.1:1/v1"),
        far=ProviderSettings(base_url="http://192.0.2.1/v1"),
    )
    with no_real_providers():
        assert failure("openai/gpt-5", registry).code == "refused"
        assert failure("far/model", registry).code == "refused"
        assert registry.open("near/model").id == "near/model"
    assert "ONYX_FORBID_PROVIDERS" not in os.environ
    assert registry.open("openai/gpt-5").id == "openai/gpt-5"


def test_opening_a_model_imports_no_client_library() -> None:
    before = set(sys.modules)
    models(openai=ProviderSettings(api_key="secret-key")).open("openai/gpt-5")
    assert not {"litellm", "openai", "xllamacpp"} & (set(sys.modules) - before)


async def test_list_has_local_file_first_and_providers_only_with_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert await models().list() == []
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    listed = await models("local//own/model.gguf").list()
    assert (listed[0].id, listed[0].local, listed[0].tools) == ("local//own/model.gguf", True, True)
    assert 1 < len(listed) <= 1 + MODELS_PER_PROVIDER
    assert {model.provider for model in listed[1:]} == {"openai"}
    assert not any(model.local for model in listed[1:])


async def test_configured_models_are_listed_and_server_is_queried_only_on_refresh() -> None:
    with ScriptedServer(models=("served",), api_key="secret-key") as server:
        registry = models(
            mine=ProviderSettings(api_key="secret-key", base_url=server.base_url, models=("chosen",)),
            down=ProviderSettings(base_url="http://127.0.0.1:9/v1", models=("other",)),
        )
        quiet = [model.id for model in await registry.list()]
        assert server.requests == []
        refreshed = await registry.list(refresh=True)
    assert quiet == ["mine/chosen", "down/other"]
    assert [model.id for model in refreshed] == ["mine/chosen", "mine/served", "down/other"]
    assert all(model.local for model in refreshed)


def test_newer_models_come_first_without_dated_copies() -> None:
    entry = {"litellm_provider": "openai", "mode": "chat", "supports_function_calling": True}
    names = ["gpt-4.1", "gpt-5.2", "gpt-5.2-mini", "gpt-5.2-2025-12-11", "gpt-4o-audio-preview", "gpt-6"]
    table = dict.fromkeys(names, entry) | {"o9": {**entry, "litellm_provider": "azure"}}
    newest = newest_chat_models(table, KNOWN_PROVIDERS["openai"])
    assert newest == ["gpt-6", "gpt-5.2", "gpt-5.2-mini", "gpt-4.1"]


def test_missing_runtime_names_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(local_weights, "find_spec", lambda name: None if name == "xllamacpp" else find(name))
    error = failure(CATALOGUE[0].id)
    assert error.code == "not_found"
    assert error.hint == "pip install xllamacpp"


@pytest.mark.parametrize("name", ["smollm2", "smollm3"])
async def test_removed_or_unknown_model_names_alternative_and_is_not_offered(name: str) -> None:
    registry = models(f"local/{name}")
    error = failure(f"local/{name}", registry)
    assert error.code == "not_found"
    assert name in str(error)
    assert all(model.id in (error.hint or "") for model in CATALOGUE)
    assert await registry.list() == []


def test_missing_gguf_file_is_named() -> None:
    assert "/nowhere/model.gguf" in str(failure("local//nowhere/model.gguf"))
    assert "/nowhere/model.gguf" in str(failure("local/nowhere/model.gguf"))


def put(model: CatalogueModel, folder: Path) -> Path:
    """A file of the right length, which takes no room."""
    path = folder / model.file_name
    with path.open("wb") as file:
        file.truncate(model.size_bytes)
    return path


def test_downloaded_model_is_opened_from_its_file(tmp_path: Path) -> None:
    path = put(CATALOGUE[1], tmp_path)
    weights = find_weights(CATALOGUE[1].name, [tmp_path / "none", tmp_path])
    assert (weights.path, weights.context_tokens) == (path, 4096)


@pytest.mark.parametrize("model", CATALOGUE, ids=lambda model: model.name)
def test_model_not_downloaded_names_size_and_where_to_get_it(model: CatalogueModel) -> None:
    error = failure(model.id)
    assert error.code == "not_found"
    assert f"{model.title} is not on this machine yet ({megabytes(model.size_bytes)})" in str(error)
    assert "Local models…" in (error.hint or "")


async def test_only_downloaded_models_are_listed(tmp_path: Path) -> None:
    registry = ProviderModels(ModelsSettings(local_folders=(tmp_path,)))
    assert await registry.list() == []
    put(CATALOGUE[1], tmp_path)
    assert [model.id for model in await registry.list()] == [CATALOGUE[1].id]
