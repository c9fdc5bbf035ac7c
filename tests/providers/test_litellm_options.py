"""What only Bedrock, Vertex AI and Azure have goes to LiteLLM under its own names."""

import pytest

from onyx_jupyter.messages import Message
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.litellm_model import LiteLLMModel
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings

REQUEST = ModelRequest("", [Message("user", "Hi")])


def arguments(name: str, settings: ProviderSettings) -> dict[str, object]:
    model = ProviderModels(ModelsSettings({name: settings})).open(f"{name}/m")
    assert isinstance(model, LiteLLMModel)
    return model._arguments(REQUEST, as_action=False)


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("bedrock", {"region": "eu-west-1", "profile": "work"}, {"aws_region_name": "eu-west-1"}),
        ("vertex", {"project": "p", "location": "europe-west4"}, {"vertex_project": "p"}),
        ("azure", {"apiVersion": "2024-10-21"}, {"api_version": "2024-10-21"}),
    ],
)
def test_options_are_passed_on(
    monkeypatch: pytest.MonkeyPatch, name: str, options: dict[str, str], expected: dict[str, str]
) -> None:
    monkeypatch.setenv("ONYX_FORBID_PROVIDERS", "")
    found = arguments(name, ProviderSettings(api_key="secret-key", options=options))
    assert expected.items() <= found.items()
    assert "reasoning_effort" not in found


def test_effort_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONYX_FORBID_PROVIDERS", "")
    assert arguments("azure", ProviderSettings(api_key="secret-key", effort="high"))["reasoning_effort"] == "high"
