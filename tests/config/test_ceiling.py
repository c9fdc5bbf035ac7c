"""Parsing the administrator's ceiling: what it allows, and which mistakes it rejects."""

import pytest

from onyx_jupyter.config.ceiling import Ceiling, read_ceiling
from onyx_jupyter.config.schema import Config
from onyx_jupyter.errors import ConfigError, InvalidRequest


def test_an_empty_ceiling_forbids_nothing():
    ceiling = read_ceiling({})
    assert ceiling == Ceiling()
    assert [ceiling.mode(mode) for mode in ("ask", "agent", "auto")] == ["ask", "agent", "auto"]
    assert ceiling.allows_provider("openai", "https://anywhere.example")
    assert ceiling.allow_always
    assert ceiling.over(Config()) == Config()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("exec", "must be a dict"),
        (["exec"], "must be a dict"),
        (None, "must be a dict"),
        ({"denyTools": ["exec"]}, "unknown key 'denyTools'. Known here: deny, modes, providers, allowAlways"),
        ({"deny": "exec"}, "deny is 'exec'"),
        ({"deny": [5]}, "deny.0 is 5"),
        ({"modes": ["ask", "yolo"]}, "modes.1 is 'yolo'"),
        ({"modes": ["agent"]}, "it must include 'ask'"),
        ({"modes": []}, "it must include 'ask'"),
        ({"providers": "local"}, "providers is 'local'"),
        ({"providers": ["open ai"]}, "neither a provider name (ollama) nor a URL"),
        ({"providers": ["ftp://host"]}, "neither a provider name"),
        ({"allowAlways": "no"}, "allowAlways is 'no'"),
    ],
)
def test_mistake_is_rejected_with_key_and_value(value, said):
    with pytest.raises(ConfigError) as refused:
        read_ceiling(value)
    assert said in str(refused.value)
    assert str(refused.value).startswith("c.OnyxApp.ceiling")


def test_disallowed_mode_falls_back_to_stricter_one_and_is_rejected_if_requested():
    ceiling = read_ceiling({"modes": ["ask", "auto"]})
    assert [ceiling.mode(mode) for mode in ("ask", "agent", "auto")] == ["ask", "ask", "auto"]
    ceiling.check_mode("auto")
    with pytest.raises(InvalidRequest, match=r"Agent mode\. Choose Ask or Auto"):
        ceiling.check_mode("agent")


@pytest.mark.parametrize(
    ("name", "base_url", "allowed"),
    [
        ("local", None, True),
        ("ollama", None, True),
        ("ollama", "http://localhost:11434", True),
        ("ollama", "https://api.openai.com/v1", False),
        ("openai", None, False),
        ("openai", "https://gateway.example/v1", True),
        ("lab", "https://gateway.example/v1/", True),
        ("lab", "https://gateway.example/v1/team", True),
        ("lab", "https://GATEWAY.example/v1", True),
        ("lab", "https://gateway.example/v1beta", False),
        ("lab", "https://gateway.example/v1/../other", False),
        ("lab", "https://gateway.example/v1/%2e%2e/other", False),
        ("lab", "https://gateway.example.evil.example/v1", False),
        ("lab", "https://gateway.example@evil.example/v1", False),
        ("lab", "https://gateway.example/v1@evil.example", False),
        ("lab", "http://gateway.example/v1", False),
        ("lab", "https://gateway.example:8443/v1", False),
        ("Ollama", None, False),
    ],
)
def test_provider_is_allowed_by_name_at_default_address_or_by_address(name, base_url, allowed):
    ceiling = read_ceiling({"providers": ["local", "ollama", "https://gateway.example/v1"]})
    usual = "http://localhost:11434" if name == "ollama" else None
    assert ceiling.allows_provider(name, base_url, usual) is allowed


def test_denied_tools_are_denied_to_every_agent():
    config = Config.model_validate(
        {"agents": {"list": [{"id": "main"}, {"id": "reader", "tools": {"allow": ["exec"], "deny": ["read"]}}]}}
    )
    over = read_ceiling({"deny": ["exec"]}).over(config)
    assert [agent.tools.deny for agent in over.agents.items] == [["exec"], ["read", "exec"]]
    assert over.agents.items[1].tools.allow == ["exec"], "deny wins, so this stays as it was written"
