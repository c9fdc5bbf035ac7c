"""The context window: configured, else from the provider library's table, else a careful guess."""

import pytest

from onyx_jupyter.agents.settings import models_settings
from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.config.schema import Config
from onyx_jupyter.providers.context_window import HOSTED_TOKENS, OWN_SERVER_TOKENS
from onyx_jupyter.providers.registry import ProviderModels


def window(model_id: str, **provider: object) -> int:
    name = model_id.partition("/")[0]
    config = Config.model_validate({"providers": {name: {"apiKey": "key", **provider}}})
    return ProviderModels(models_settings(config, Ceiling())).open(model_id).context_window


@pytest.mark.parametrize(
    ("model_id", "tokens"),
    [
        ("anthropic/claude-sonnet-4-5", 200_000),
        ("openai/gpt-4o", 128_000),
        ("azure/gpt-4o", 128_000),
        ("bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0", 200_000),
        ("ollama/llama3.1", 8192),
        ("openai/of-next-year", HOSTED_TOKENS),
        ("ollama/made-at-home", OWN_SERVER_TOKENS),
    ],
)
def test_library_table_knows_models_with_and_without_provider(model_id, tokens, monkeypatch):
    monkeypatch.delenv("ONYX_FORBID_PROVIDERS", raising=False)
    assert window(model_id) == tokens


def test_configured_window_wins_and_custom_server_defaults_to_small():
    assert window("openai/gpt-4o", baseUrl="http://localhost:1/v1", contextWindow=9000) == 9000
    assert window("lab/qwen", baseUrl="http://localhost:1/v1") == OWN_SERVER_TOKENS
