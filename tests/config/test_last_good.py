"""What applies while the configuration has an error: it becomes stricter, never looser."""

import json

import pytest

from onyx_jupyter.config.last_good import restrictions, strictest
from onyx_jupyter.config.load import readable
from onyx_jupyter.config.schema import AgentTools, Config

GOOD = Config.model_validate(
    {
        "agents": {
            "list": [
                {"id": "reader", "default": True, "tools": {"allow": ["group:fs", "group:web"], "deny": ["write"]}},
                {"id": "main", "workspace": "elsewhere", "tools": {"deny": ["exec"]}},
            ]
        },
        "providers": {
            "openai": {"apiKey": "sk-very-secret", "baseUrl": "https://ada:pass-word@gateway.example/v1?key=hidden"}
        },
        "runtime": {"maxTokensPerRun": 5000},
        "memory": {"recall": False},
        "security": {"approvalTimeoutMs": 60_000, "auto": ["exec"], "secretsFilter": False},
        "tools": {"web": {"allowPrivate": ["10.0.0.0/8"], "braveApiKey": "brave-secret"}},
    }
)


def tools_of(config: Config, agent_id: str = "main") -> AgentTools:
    agent = config.agent(agent_id)
    assert agent is not None
    return agent.tools


def read(folder, text, environment=None):
    path = folder / "onyx.json"
    path.write_text(text, encoding="utf-8")
    return readable(path, environment or {})


def test_last_good_copy_contains_no_secret():
    kept = json.dumps(restrictions(GOOD).model_dump(mode="json", by_alias=True))
    for secret in ("sk-very-secret", "brave-secret", "pass-word", "ada", "hidden"):
        assert secret not in kept
    assert restrictions(GOOD).providers["openai"].base_url == "https://gateway.example/v1"


def test_unreadable_file_keeps_restrictions_and_asks_for_everything():
    config = strictest(restrictions(GOOD), {})
    assert config.security.auto == []
    assert config.security.secrets_filter is True
    assert config.security.approval_timeout_ms == 60_000
    assert config.tools.web.allow_private == []
    assert config.runtime.max_tokens_per_run == 5000
    assert (config.memory.recall, config.memory.consolidation) == (False, False)
    assert config.default_agent().id == "reader"
    assert tools_of(config, "reader") == AgentTools(allow=["group:fs", "group:web"], deny=["write"])
    assert tools_of(config) == AgentTools(deny=["exec"])
    assert config.agents.items[1].workspace == "elsewhere"
    assert config.providers["openai"].base_url == "https://gateway.example/v1"


def test_without_last_good_copy_default_agent_asks_for_everything():
    config = strictest(None, {})
    assert [agent.id for agent in config.agents.items] == ["main"]
    assert config.security.auto == []


def test_denials_in_broken_file_apply(tmp_path):
    text = '{agents: {list: [{id: "main", tools: {deny: ["edit", 5]}}]}, runtime: {maxTurns: "many"}}'
    config = strictest(restrictions(GOOD), read(tmp_path, text))
    assert tools_of(config).deny == ["edit", "exec"]
    assert tools_of(config, "reader").deny == ["write"]


def test_permissions_in_broken_file_apply_only_if_previously_allowed(tmp_path):
    text = """{agents: {list: [{id: "reader", tools: {allow: ["group:web", "exec"]}}, {id: "main", tools: {allow:
        ["read"], deny: []}}]}, security: {auto: ["write"]}, nonsense: 1}"""
    config = strictest(restrictions(GOOD), read(tmp_path, text))
    assert tools_of(config, "reader").allow == ["group:web"]
    assert tools_of(config) == AgentTools(allow=["read"], deny=["exec"])
    assert config.security.auto == []


@pytest.mark.parametrize(
    "text",
    [
        '{tools: {deny: ["exec"]}}',
        '{deny: "exec"}',
        '{security: {deny: ["exec"]}}',
        '{agents: {defaults: {tools: {deny: ["exec"]}}}}',
        '{agents: {list: [{id: "No Id", tools: {deny: ["exec"]}}]}}',
        '{agents: {list: {id: "main", tools: {deny: ["exec"]}}}}',
        '{agents: {list: [{tools: {deny: ["exec"]}}, {tools: {deny: ["edit"]}}]}}',
        '{agents: {list: [{tools: {deny: ["exec"]}}]}, agents: {list: [{tools: {deny: ["edit"]}}]}}',
    ],
)
def test_misplaced_or_duplicate_deny_applies(tmp_path, text):
    assert "exec" in tools_of(strictest(None, read(tmp_path, text))).deny


def test_readable_agents_exist_without_last_good_copy(tmp_path):
    text = """{agents: {list: [
        {id: "reader", name: "Reader", default: true, temperature: "hot", tools: {allow: ["read"]}},
        {id: "odd", default: true, tools: {allow: {read: true}}}, {id: "worse", tools: "exec"}]}}"""
    config = strictest(None, read(tmp_path, text))
    assert [(agent.id, agent.name, agent.default) for agent in config.agents.items] == [
        ("reader", "Reader", True),
        ("odd", "Onyx", False),
        ("worse", "Onyx", False),
    ]
    assert tools_of(config, "reader").allow == ["read"]
    assert tools_of(config, "odd").allow == [], "what cannot be read allows nothing"
    assert tools_of(config, "worse").allow == []


def test_new_agent_waits_until_file_is_valid(tmp_path):
    config = strictest(restrictions(GOOD), read(tmp_path, '{agents: {list: [{id: "wide"}]}, nonsense: 1}'))
    assert config.agent("wide") is None
    assert tools_of(config).deny == ["exec"]


def test_readable_limits_apply_if_stricter(tmp_path):
    strict = "{security: {approvalTimeoutMs: 2000}, runtime: {maxTokensPerRun: 1000}, memory: {recall: false}, no: 1}"
    loose = (
        "{security: {approvalTimeoutMs: 9000000}, runtime: {maxTokensPerRun: 900000}, memory: {recall: true}, no: 1}"
    )
    config = strictest(restrictions(GOOD), read(tmp_path, strict))
    assert (config.security.approval_timeout_ms, config.runtime.max_tokens_per_run) == (2000, 1000)
    config = strictest(restrictions(GOOD), read(tmp_path, loose))
    assert (config.security.approval_timeout_ms, config.runtime.max_tokens_per_run) == (60_000, 5000)
    assert config.memory.recall is False
    assert strictest(None, read(tmp_path, strict)).memory.recall is False


def test_provider_keeps_its_address(tmp_path):
    text = '{providers: {openai: {baseUrl: "https://other.example"}, lab: {baseUrl: "${LAB}/v1", apiKey: "k"}}, no: 1}'
    raw = read(tmp_path, text, {"LAB": "https://lab.example"})
    config = strictest(restrictions(GOOD), raw)
    assert config.providers["openai"].base_url == "https://gateway.example/v1"
    assert config.providers["lab"].base_url == "https://lab.example/v1"
    assert config.providers["lab"].api_key is None


def test_environment_variable_denies_too_and_an_invalid_one_hides_no_other(tmp_path):
    variables = {
        "ONYX_AGENTS__LIST__0__TOOLS__DENY": '["exec"]',
        "ONYX_SECURITY__AUTO": '["exec"]',
        "ONYX_RUNTIME__NONSENSE": "1",
    }
    raw = read(tmp_path, "{", variables)
    config = strictest(None, raw)
    assert tools_of(config).deny == ["exec"]
    assert config.security.auto == []


@pytest.mark.parametrize("text", ["", "[1]", "{", "[" * 5000, "\x00", '{a: "${NO}"}'])
def test_meaningless_text_denies_nothing(tmp_path, text):
    assert strictest(None, read(tmp_path, text)).security.auto == []


def test_binary_file_is_read_as_empty(tmp_path):
    (tmp_path / "onyx.json").write_bytes(b"\xff\xfe\x00")
    assert readable(tmp_path / "onyx.json", {}) == {}
    assert readable(tmp_path / "missing.json", {}) == {}
