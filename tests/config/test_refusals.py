"""What is wrong is refused alone, all of it is reported, and what it may restrict stays restricted."""

import pytest

from onyx_jupyter.config.environment import locked
from onyx_jupyter.config.refusals import closed
from onyx_jupyter.config.schema import AgentTools, Config
from onyx_jupyter.config.schema.section import REFUSED_ADDRESS, REFUSED_MODEL
from tests.config.loading import load_text, problem_of


def config_of(text: str, environment: dict[str, str] | None = None) -> Config:
    return load_text(text, environment).config


def tools_of(text: str, agent_id: str = "main") -> AgentTools:
    agent = config_of(text).agent(agent_id)
    assert agent is not None
    return agent.tools


def test_every_problem_is_told_with_its_line_and_the_rest_is_in_force():
    loaded = load_text(
        """{
        gateway: { port: 18789 },
        runtime: { maxTurns: 'many', whenBusy: 'followup', },
        tools: { timeout: 5, profile: "coding" },
        memory: { fusion: 'rrf',
                  minScore: 2 } }""",
        {"ONYX_LOGGING__LEVEL": "loud", "ONYX_RUNTIME__TURNS": "4", "ONYX_SKILLS__KEEPRUNS": "7"},
    )
    told = [(one.severity, one.key, one.line, one.variable) for one in loaded.problems]
    assert sorted(told, key=str) == [
        ("error", "logging.level", None, "ONYX_LOGGING__LEVEL"),
        ("error", "memory.minScore", 6, None),
        ("error", "runtime.maxTurns", 3, None),
        ("error", "tools.timeout", 4, None),
        ("warning", "gateway", 2, None),
        ("warning", "runtime.TURNS", None, "ONYX_RUNTIME__TURNS"),
        ("warning", "tools.profile", 4, None),
    ]
    expected = {"runtime": {"whenBusy": "followup"}, "memory": {"fusion": "rrf"}, "skills": {"keepRuns": 7}}
    assert loaded.config == Config.model_validate(expected)


@pytest.mark.parametrize(
    ("text", "key", "instead"),
    [
        ("{security: {auto: 'exec'}}", ("security", "auto"), []),
        ("{security: {auto: ['exec', 5]}}", ("security", "auto"), []),
        ("{security: {autos: ['exec']}}", ("security", "auto"), []),
        ("{security: {approvalTimeoutMs: '1h'}}", ("security", "approval_timeout_ms"), 1000),
        ("{security: {budget: {dayUsd: 'ten'}}}", ("security", "budget", "day_usd"), 0),
        ("{security: {budget: {dayUSD: 5}}}", ("security", "budget", "day_usd"), 0),
        ("{security: {budget: 5}}", ("security", "budget", "session_tokens"), 0),
        ("{security: {budget: {dayUsd: Infinity}}}", ("security", "budget", "day_usd"), 0),
        ("{security: []}", ("security", "auto"), []),
        ("{securty: {auto: []}}", ("security", "auto"), []),
        ("{tools: {web: {allowPrivate: ['10.0.0.0/8', 'no way']}}}", ("tools", "web", "allow_private"), []),
        ("{tools: {web: {searxngUrl: 'search.example'}}}", ("tools", "web", "searxng_url"), REFUSED_ADDRESS),
        ("{runtime: {maxTokensPerRun: 'few'}}", ("runtime", "max_tokens_per_run"), 1000),
        ("{runtime: 5}", ("runtime", "max_tokens_per_run"), 1000),
        ("{memory: {recall: 'nope'}}", ("memory", "recall"), False),
        ("{memory: {recall: 'no'}}", ("memory", "recall"), False),
        ("{memory: {consolidation: []}}", ("memory", "consolidation"), False),
        ("{memory: 'none'}", ("memory", "consolidation"), False),
        ("{memory: {embedder: 'ollama', embeddingModel: 'openai/x'}}", ("memory", "embedding_model"), None),
        ("{memory: {embedder: 'api'}}", ("memory", "embedder"), "auto"),
        ("{heartbeat: {enabled: 'sometimes'}}", ("heartbeat", "enabled"), False),
    ],
)
def test_what_restricts_is_not_lifted_by_an_error(text, key, instead):
    value = config_of(text)
    for name in key:
        value = getattr(value, name)
    assert value == instead


@pytest.mark.parametrize(
    "provider",
    [
        "{baseUrl: 'gateway.example'}",
        "{baseUrl: 5}",
        "{baseURL: 'https://gateway.example'}",
        "{baseUrl: '${NO_SUCH_VARIABLE}'}",
        "{apiKey: '${NO_SUCH_VARIABLE}', baseUrl: 'https://gateway.example'}",
        "'sk-a-key'",
    ],
)
def test_a_provider_that_cannot_be_read_is_refused_and_no_other(provider):
    config = config_of(f"{{providers: {{openai: {provider}, lab: {{baseUrl: 'https://lab.example'}}}}}}")
    assert config.providers["openai"].is_refused
    assert not config.providers["lab"].is_refused


def test_where_no_provider_can_be_read_none_is_available():
    assert config_of("{providers: []}").providers["*"].is_refused
    assert config_of("{provider: {openai: {}}}").providers["*"].is_refused


@pytest.mark.parametrize(
    "tools", ["5", "{allow: 'read'}", "{deny: ['exec', 5]}", "{denny: ['exec']}", "{denyList: ['exec']}", "{deny: {}}"]
)
def test_an_agent_whose_tools_cannot_be_read_has_none(tools):
    text = f"{{agents: {{list: [{{id: 'main', tools: {tools}}}, {{id: 'other', tools: {{deny: ['edit']}}}}]}}}}"
    assert tools_of(text) == AgentTools(allow=[])
    assert tools_of(text, "other") == AgentTools(deny=["edit"])


@pytest.mark.parametrize(
    "text",
    [
        "{tools: {deny: ['exec']}}",
        "{deny: 'exec'}",
        "{agents: {defaults: {tools: {deny: ['exec']}}}}",
        "{agents: {list: [{sandbox: {tools: {deny: ['exec']}}}]}}",
        "{agents: {list: [{tools: {deny: ['exec']}}, {tools: {deny: ['edit']}}]}}",
    ],
)
def test_a_deny_at_a_wrong_place_or_twice_is_meant_all_the_same(text):
    assert "exec" in tools_of(text).deny


def test_an_allow_at_a_wrong_place_restricts_too():
    text = "{tools: {allow: ['read', 'exec']}, agents: {list: [{tools: {allow: ['exec', 'edit']}}, {id: 'b'}]}}"
    assert tools_of(text).allow == ["exec"]
    assert tools_of(text, "b").allow == ["read", "exec"]


def test_what_another_program_allows_and_denies_is_its_own_matter():
    assert tools_of("{gateway: {tools: {deny: ['exec'], allow: []}}}") == AgentTools()


@pytest.mark.parametrize(
    ("agents", "ids", "default"),
    [
        ("5", ["main"], "main"),
        ("{list: []}", ["main"], "main"),
        ("{list: ['main']}", ["main"], "main"),
        ("{list: [{id: 'No Id'}, {id: 'b'}]}", ["b", "main"], "main"),
        ("{list: [{id: 'main'}, {id: 'No Id', default: true}]}", ["main", "unreadable-1"], "unreadable-1"),
        ("{list: [{id: 'a'}, {id: 'b', default: 'perhaps'}]}", ["a", "main"], "main"),
        ("{list: [{id: 'a'}, {ids: 'b'}, {id: 'c'}]}", ["a", "c"], "a"),
        ("{list: [{id: 'a'}, 5, {id: 'c', default: true}]}", ["a", "c"], "c"),
    ],
)
def test_nobody_answers_in_place_of_an_agent_that_cannot_be_read(agents, ids, default):
    config = config_of(f"{{agents: {agents}}}")
    assert [agent.id for agent in config.agents.items] == ids
    assert config.default_agent().id == default
    if default in ("main", "unreadable-1"):
        assert config.default_agent().tools.allow == []


def test_positions_in_messages_are_those_of_the_file_after_an_entry_was_refused():
    text = "{agents: {list: [\n5,\n{id: 'a'},\n{id: 'a'}]},\nbindings: [\n7,\n{agentId: 'x', match: {channel: 'c'}}]}"
    keys = {problem.key: problem.line for problem in load_text(text).problems}
    assert keys == {"agents.list[0]": 2, "agents.list[2]": 4, "bindings[0]": 6, "bindings[1]": 7}


def test_the_model_of_an_agent_that_cannot_be_read_is_not_another_one():
    text = "{agents: {defaults: {model: 'openai/x'}, list: [{model: {primary: 'local/a.gguf'}}]}}"
    assert config_of(text).default_agent().model == REFUSED_MODEL


def test_a_variable_in_place_of_a_missing_reference_is_no_error():
    text = "{runtime: {maxTurns: 3}, providers: {lab: {baseUrl: '${NO_SUCH}'}}}"
    loaded = load_text(text, {"ONYX_PROVIDERS__LAB__BASEURL": "https://lab.example"})
    assert loaded.problems == ()
    assert loaded.config.providers["lab"].base_url == "https://lab.example"


def test_a_message_says_what_is_in_force_instead():
    assert "its default applies" in problem_of("{runtime: {maxTurns: 0}}").message
    assert "1000 applies" in problem_of("{runtime: {maxTokensPerRun: 0}}").message
    assert "the agent has no tools" in problem_of("{agents: {list: [{tools: 5}]}}").message
    assert "no effect" in problem_of("{wizard: {}}").message


def test_what_holds_while_nothing_can_be_read_is_valid():
    config = Config.model_validate(closed(Config))
    assert config.default_agent().tools.allow == []
    assert config.security.auto == []


def test_a_key_that_a_variable_sets_is_told_with_the_variable():
    variables = {
        "ONYX_HOME": "/x",
        "ONYX_RUNTIME__MAXTURNS": "3",
        "ONYX_PROVIDERS__MY_LAB__APIKEY": "k",
        "ONYX_AGENTS__LIST__0__NAME": "x",
        "ONYX_AGENTS__LIST__FIRST__NAME": "x",
    }
    assert locked(variables, {"providers": {"My-Lab": {}}}) == {
        ("agents", "list", 0, "name"): "ONYX_AGENTS__LIST__0__NAME",
        ("providers", "My-Lab", "apiKey"): "ONYX_PROVIDERS__MY_LAB__APIKEY",
        ("runtime", "maxTurns"): "ONYX_RUNTIME__MAXTURNS",
    }
    assert locked({}) == {}
