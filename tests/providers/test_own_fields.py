"""The fields that only some providers have reach LiteLLM."""

import pytest

from onyx_jupyter.messages import Message
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.litellm_model import LiteLLMModel
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from tests.providers.test_served_models import json_answer, server


@pytest.mark.parametrize(
    ("name", "options", "sent"),
    [
        (
            "bedrock",
            {"region": "eu-west-1", "profile": "lab"},
            {"aws_region_name": "eu-west-1", "aws_profile_name": "lab"},
        ),
        ("vertex", {"project": "mine", "location": "eu"}, {"vertex_project": "mine", "vertex_location": "eu"}),
    ],
)
def test_of_a_cloud_are_given_by_its_name_for_them(
    name: str, options: dict[str, str], sent: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ONYX_FORBID_PROVIDERS", raising=False)  # nothing is sent
    models = ProviderModels(ModelsSettings({name: ProviderSettings(options=options)}))
    model = models.open(f"{name}/a-model")
    assert isinstance(model, LiteLLMModel)
    arguments = model._arguments(ModelRequest("", [Message("user", "Hi")]), as_action=False)
    assert sent.items() <= arguments.items()


async def test_api_version_is_in_azures_address() -> None:
    async with server(json_answer(b'{"error": {"message": "no"}}', b"404 Not Found")) as (address, requests):
        settings = ProviderSettings(api_key="k" * 20, base_url=address, options={"apiVersion": "2024-10-21"})
        model = ProviderModels(ModelsSettings({"azure": settings})).open("azure/mine")
        with pytest.raises(Exception, match="mine"):
            [event async for event in model.stream(ModelRequest("", [Message("user", "Hi")]))]
    assert b"api-version=2024-10-21" in requests[0]


def test_effort_is_given_where_it_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ONYX_FORBID_PROVIDERS", raising=False)  # nothing is sent
    for effort, sent in (("high", {"reasoning_effort": "high"}), (None, {})):
        settings = ProviderSettings(api_key="k" * 20, effort=effort)
        model = ProviderModels(ModelsSettings({"azure": settings})).open("azure/mine")
        assert isinstance(model, LiteLLMModel)
        arguments = model._arguments(ModelRequest("", [Message("user", "Hi")]), as_action=False)
        assert {name: value for name, value in arguments.items() if name == "reasoning_effort"} == sent
