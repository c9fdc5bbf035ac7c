"""Which model does what."""

import pytest

from onyx_jupyter.config.roles import ROLES, model_for
from onyx_jupyter.config.schema import Config
from tests.config.loading import load_text, problem_of


@pytest.mark.parametrize("role", ["default", "heartbeat", "cron", "subagent"])
def test_a_job_comes_before_the_agent_and_the_agent_before_the_role(role):
    config = Config.model_validate(
        {"runtime": {f"{role}Model": "a/role", "defaultModel": "a/default" if role != "default" else "a/role"}}
    )
    agent = config.default_agent().model_copy(update={"model": "a/agent"})
    assert model_for(config, role, agent, "a/job") == "a/job"
    assert model_for(config, role, agent) == "a/agent"
    assert model_for(config, role, config.default_agent()) == "a/role"
    if role != "default":
        plain = Config.model_validate({"runtime": {"defaultModel": "a/default"}})
        assert model_for(plain, role, plain.default_agent()) == "a/default"


@pytest.mark.parametrize("role", ["consolidation", "completion"])
def test_where_no_agent_answers_the_role_comes_first(role):
    config = Config.model_validate({"runtime": {f"{role}Model": "a/role", "defaultModel": "a/default"}})
    agent = config.default_agent().model_copy(update={"model": "a/agent"})
    assert model_for(config, role, agent) == "a/role"
    plain = Config.model_validate({"runtime": {"defaultModel": "a/default"}})
    assert model_for(plain, role, agent) == "a/agent"
    assert model_for(plain, role) == "a/default"


def test_no_chat_model_makes_embeddings():
    config = Config.model_validate({"runtime": {"defaultModel": "a/default"}})
    assert model_for(config, "embedding", config.default_agent()) is None


def test_without_configuration_no_role_has_a_model():
    assert {model_for(Config(), role) for role in ROLES} == {None}


@pytest.mark.parametrize(
    ("role", "alias", "text"),
    [
        ("default", "agents.defaults.model", "agents: {defaults: {model: 'b/old'}}"),
        ("heartbeat", "heartbeat.model", "heartbeat: {model: 'b/old'}"),
        ("consolidation", "memory.consolidationModel", "memory: {consolidationModel: 'b/old'}"),
        ("embedding", "memory.embeddingModel", "memory: {embeddingModel: 'b/old'}"),
    ],
)
def test_an_older_key_counts_until_the_new_one_names_another_model(role, alias, text):
    assert model_for(load_text(f"{{{text}}}").config, role) == "b/old"
    both = f"{{\n{text},\nruntime: {{{role}Model: 'a/new'}}}}"
    assert model_for(load_text(both).config, role) == "a/new"
    problem = problem_of(both)
    assert (problem.severity, problem.key, problem.line) == ("warning", alias, 2)
    assert load_text(both.replace("a/new", "b/old")).problems == ()
