"""Loading the configuration: precedence, validation, error messages."""

import json
import re
from pathlib import Path

import pytest

from onyx_jupyter.agents.default_config import FIRST_FILE, write_first_file
from onyx_jupyter.config.load import load_config
from onyx_jupyter.config.schema import Config
from onyx_jupyter.errors import ConfigError


def written(folder: Path, text: str) -> Path:
    path = folder / "onyx.json"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(folder: Path, text: str, environment: dict[str, str] | None = None) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load_config(written(folder, text), environment or {})
    return caught.value


@pytest.mark.parametrize("text", ["", "  \n\t\n", "// nothing yet\n/* at\nall */\n", "{}", "\ufeff{}"])
def test_empty_file_means_defaults(tmp_path, text):
    assert load_config(written(tmp_path, text), {}) == Config()


def test_missing_file_means_defaults_and_is_not_created(tmp_path):
    config = load_config(tmp_path / "onyx.json", {})
    assert config == Config()
    assert config.runtime.max_turns == 20
    assert config.runtime.default_timeout_ms == 300_000
    assert config.runtime.memory_search_top_k == 6
    assert config.heartbeat.interval_ms == 1_800_000
    assert (config.memory.vector_weight, config.memory.text_weight, config.memory.min_score) == (0.6, 0.4, 0.25)
    assert config.memory.consolidation_window == 25
    assert (config.tools.timeout, config.tools.max_output_bytes) == (120_000, 100_000)
    assert config.model_of(config.default_agent()) is None
    assert list(tmp_path.iterdir()) == []


def test_shipped_example_file_loads_and_sets_nothing(tmp_path):
    path = tmp_path / "onyx.json"
    assert write_first_file(path) is True
    assert load_config(path, {}) == Config()
    assert write_first_file(path) is False
    assert path.stat().st_mode & 0o777 == 0o600


KEYS = {"ANTHROPIC_API_KEY": "from-environment", "BRAVE_API_KEY": "likewise"}
FIRST_FILE_EXAMPLES = re.findall(r"(?:^  //   .*\n)+", FIRST_FILE, re.MULTILINE)


def uncommented(example: str) -> str:
    return re.sub(r"^  //   ", "  ", example, flags=re.MULTILINE)


@pytest.mark.parametrize("example", FIRST_FILE_EXAMPLES)
def test_each_example_works_when_uncommented(tmp_path, example):
    path = written(tmp_path, FIRST_FILE.replace(example, uncommented(example)))
    config = load_config(path, KEYS)
    assert {name for name, value in config if value != getattr(Config(), name)} <= {example.strip("/ ").split(":")[0]}


def test_all_examples_work_together_and_their_limits_are_defaults(tmp_path):
    text = FIRST_FILE
    for example in FIRST_FILE_EXAMPLES:
        text = text.replace(example, uncommented(example))
    config, empty = load_config(written(tmp_path, text), KEYS), Config()
    assert config.agents.defaults.model == "anthropic/claude-sonnet-4-5"
    assert config.default_agent().fallback_model == "openai/gpt-5.2"
    assert config.default_agent().tools.deny == ["group:web"]
    assert config.providers["myserver"].models == ["my-model"]
    assert config.tools.web.searxng_url == "http://localhost:8888"
    assert (config.runtime, config.security) == (empty.runtime, empty.security)
    assert config.tools.timeout == empty.tools.timeout


def test_json5_with_comments_single_quotes_and_trailing_commas_is_read(tmp_path):
    text = """
    // a comment
    {
      agents: { defaults: { model: 'openai/gpt-5', }, /* inner */ },
      "runtime": { maxTurns: +7, },
      providers: { 'my-server': { baseUrl: 'http://localhost/v1' } },
    }
    """
    config = load_config(written(tmp_path, text), {})
    assert config.agents.defaults.model == "openai/gpt-5"
    assert config.runtime.max_turns == 7
    assert config.providers["my-server"].base_url == "http://localhost/v1"


def test_file_overrides_default_and_environment_overrides_file(tmp_path):
    path = written(tmp_path, "{ runtime: { maxTurns: 7 }, tools: { timeout: 5000 } }")
    assert load_config(path, {}).runtime.max_turns == 7
    config = load_config(path, {"ONYX_RUNTIME__MAXTURNS": "9"})
    assert config.runtime.max_turns == 9
    assert config.tools.timeout == 5000
    assert config.runtime.memory_search_top_k == 6


def test_environment_sets_names_lists_and_secrets(tmp_path):
    path = written(tmp_path, "{ providers: { 'My-Server': { baseUrl: 'http://a/v1' } } }")
    config = load_config(
        path,
        {
            "ONYX_PROVIDERS__MY_SERVER__APIKEY": "12345678",
            "ONYX_PROVIDERS__MY_SERVER__MODELS": '["one", "two"]',
            "ONYX_PROVIDERS__OTHER__BASEURL": "http://b/v1",
            "ONYX_AGENTS__LIST__0__NAME": "007",
            "ONYX_AGENTS__LIST__0__TOOLS__DENY": '["exec"]',
            "ONYX_AGENTS__LIST__0__TEMPERATURE": "0.5",
            "ONYX_SECURITY__SECRETSFILTER": "false",
            "ONYX_HOME": "/somewhere/else",
        },
    )
    key = config.providers["My-Server"].api_key
    assert key is not None
    assert key.get_secret_value() == "12345678"
    assert config.providers["My-Server"].models == ["one", "two"]
    assert config.providers["other"].base_url == "http://b/v1"
    assert config.default_agent().name == "007"
    assert config.default_agent().tools.deny == ["exec"]
    assert config.default_agent().temperature == 0.5
    assert config.security.secrets_filter is False


@pytest.mark.parametrize(
    ("text", "key", "line", "words"),
    [
        ("{\n  runtime: {\n    maxTurns: 'many',\n  },\n}", "runtime.maxTurns", 3, ["'many'", "integer"]),
        ("{\n\n  runtime: { maxTurns: 0 },\n}", "runtime.maxTurns", 3, ["is 0", "greater than or equal to 1"]),
        ("{ runtime: { maxTurns: 501 } }", "runtime.maxTurns", 1, ["501", "less than or equal to 500"]),
        ("{ tools: {\n timeout: 1.5 } }", "tools.timeout", 2, ["1.5", "integer"]),
        ("{ memory: {\n minScore: 2 } }", "memory.minScore", 2, ["2", "less than or equal to 1"]),
        ("{ runtime: [] }", "runtime", 1, ["[]", "object"]),
        ("{ providers: {\n  x: {\n toolMode: 'perhaps' } } }", "providers.x.toolMode", 3, ["'perhaps'", "'json'"]),
        ("{ providers: {\n  x: { baseUrl: 'localhost' } } }", "providers.x.baseUrl", 2, ["'localhost'", "https?://"]),
        ("{ agents: {\n list: [\n {},\n { id: 'No Spaces' } ] } }", "agents.list[1].id", 4, ["'No Spaces'", "pattern"]),
        ("{ agents: {\n list: [] } }", "agents.list", 2, ["[]", "at least 1 item"]),
        (
            "{ agents: {\n list: [{id: 'a'}, {id: 'a'}] } }",
            "agents",
            1,
            ["must be unique; used more than once: a"],
        ),
        ("{ agents: { list: [{id: 'a', default: true}, {id: 'b', default: true}] } }", "agents", 1, ["only one agent"]),
        ("{ bindings: [{ agentId: 'ghost', match: { channel: 'x' } }] }", "", None, ["no agent 'ghost'", "main"]),
        ("{ security: { secretsFilter: 'maybe' } }", "security.secretsFilter", 1, ["'maybe'", "boolean"]),
        ("{ heartbeat: {\n intervalMs: 5 } }", "heartbeat.intervalMs", 2, ["5", "30000"]),
        ("{ local: {\n threads: -1 } }", "local.threads", 2, ["-1", "1"]),
    ],
)
def test_wrong_value_names_key_value_line_and_allowed_values(tmp_path, text, key, line, words):
    error = refusal(tmp_path, text)
    assert (error.key, error.line) == (key, line)
    message = str(error)
    assert str(tmp_path / "onyx.json") in message
    assert key in message
    if line is not None:
        assert f"line {line}" in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("{\n runtimes: {} }", 2, ["'runtimes'", "Did you mean 'runtime'?"]),
        ("{ runtime: {\n\n maxTurn: 3 } }", 3, ["'runtime.maxTurn'", "Did you mean 'maxTurns'?", "defaultTimeoutMs"]),
        ("{ agents: { list: [ { colour: 'red' } ] } }", 1, ["'agents.list[0].colour'", "Known here:", "temperature"]),
        ("{ providers: { openai: {\n apikey: 'k' } } }", 2, ["Did you mean 'apiKey'?"]),
    ],
)
def test_unknown_key_suggests_closest_and_lists_all(tmp_path, text, line, words):
    error = refusal(tmp_path, text)
    assert error.line == line
    for word in words:
        assert word in str(error)


def test_wrong_environment_variable_is_named_instead_of_line(tmp_path):
    error = refusal(tmp_path, "{ runtime: { maxTurns: 3 } }", {"ONYX_RUNTIME__MAXTURNS": "lots"})
    assert "ONYX_RUNTIME__MAXTURNS (environment)" in str(error)
    assert "'lots'" in str(error)
    assert error.line is None


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        ("ONYX_RUNTIME__TURNS", ["'TURNS'", "maxTurns"]),
        ("ONYX_NOWHERE__X", ["'NOWHERE'", "agents"]),
        ("ONYX_AGENTS__LIST__FIRST__NAME", ["'FIRST'", "position in a list"]),
        ("ONYX_AGENTS__LIST__7__NAME", ["only 0 items"]),
        ("ONYX_RUNTIME__MAXTURNS__MORE", ["runtime.maxTurns is a value"]),
    ],
)
def test_environment_variable_for_unknown_key_lists_existing_ones(tmp_path, variable, words):
    error = refusal(tmp_path, "{}", {variable: "1"})
    assert variable in str(error)
    for word in words:
        assert word in str(error)


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        ("{ runtime: 5 }", "ONYX_RUNTIME__MAXTURNS"),
        ("{ runtime: null }", "ONYX_RUNTIME__MAXTURNS"),
        ("{ agents: { list: {} } }", "ONYX_AGENTS__LIST__0__NAME"),
        ("{ agents: { list: ['main'] } }", "ONYX_AGENTS__LIST__0__NAME"),
        ("{ providers: 'openai' }", "ONYX_PROVIDERS__OPENAI__BASEURL"),
    ],
)
def test_variable_below_wrong_type_is_a_readable_error(tmp_path, text, variable):
    error = refusal(tmp_path, text, {variable: "1"})
    assert "onyx.json" in str(error) or variable in str(error)


def test_environment_references_are_expanded_and_missing_ones_named_with_line(tmp_path):
    text = "{\n providers: {\n  openai: { apiKey: '${MY_KEY}', baseUrl: 'http://${HOST}:1/v1' } } }"
    config = load_config(written(tmp_path, text), {"MY_KEY": "k-1", "HOST": "box"})
    provider = config.providers["openai"]
    assert provider.api_key is not None
    assert (provider.api_key.get_secret_value(), provider.base_url) == ("k-1", "http://box:1/v1")
    error = refusal(tmp_path, text, {"MY_KEY": "k-1"})
    assert error.line == 3
    assert "${HOST}" in str(error)
    assert "providers.openai.baseUrl" in str(error)
    assert "k-1" not in str(error)


SECRET = "sk-very-secret-0123456789abcdef"


@pytest.mark.parametrize(
    "value",
    [
        {"openai": {"apiKey": [SECRET]}},
        {"openai": {"apiKey": {"value": SECRET}}},
        {"openai": SECRET},
        {"openai": [SECRET]},
        SECRET,
        [SECRET],
        {"openai": {"apiKey": SECRET, "toolMode": 3}},
        {"openai": {"key": SECRET}},
        {"openai": {"baseUrl": f"ftp://user:{SECRET}@host/v1"}},
        {"openai": {"models": SECRET}},
    ],
)
def test_misplaced_secret_is_in_no_error(tmp_path, value):
    error = refusal(tmp_path, json.dumps({"providers": value}))
    assert SECRET not in str(error)
    assert SECRET[:12] not in str(error)
    assert "providers" in str(error)


@pytest.mark.parametrize(
    "value", [{"braveApiKey": [SECRET]}, {"braveApiKey": {"value": SECRET}}, SECRET, [SECRET], {"key": SECRET}]
)
def test_search_key_is_in_no_error(tmp_path, value):
    error = refusal(tmp_path, json.dumps({"tools": {"web": value}}))
    assert SECRET[:12] not in str(error)
    assert "tools.web" in str(error)


def test_secret_in_environment_variable_is_in_no_error(tmp_path):
    error = refusal(tmp_path, "{}", {"ONYX_PROVIDERS__OPENAI": SECRET})
    assert SECRET not in str(error)
    assert "ONYX_PROVIDERS__OPENAI" in str(error)


def test_printing_configuration_hides_keys(tmp_path):
    config = load_config(written(tmp_path, json.dumps({"providers": {"openai": {"apiKey": SECRET}}})), {})
    assert SECRET not in repr(config)
    assert SECRET not in str(config.model_dump(mode="json"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{\n  runtime: {\n", None),
        ("{\n  runtime {}\n}", 2),
        ("{ runtime: {}, runtime: {} }", None),
        ("[1, 2]", 1),
        ("just words", 1),
        ("{} trailing", 1),
    ],
)
def test_non_object_json5_is_rejected_with_message(tmp_path, text, line):
    error = refusal(tmp_path, text)
    assert str(tmp_path / "onyx.json") in str(error)
    if line is not None:
        assert error.line == line


def test_binary_file_is_rejected_with_message(tmp_path):
    path = tmp_path / "onyx.json"
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(path, {})


def test_deeply_nested_file_is_rejected_with_message(tmp_path):
    error = refusal(tmp_path, "{ runtime: " + "[" * 20_000 + "]" * 20_000 + "}")
    assert "onyx.json" in str(error)


def test_line_number_is_right_after_multi_line_strings_and_comments(tmp_path):
    text = "{\n /* two\n lines */ agents: { defaults: { model: 'a\\\nb/c' } },\n runtime: {\n maxTurns: 'x' } }"
    error = refusal(tmp_path, text)
    assert error.line == 6
