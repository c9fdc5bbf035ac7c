"""A subscription whose program is the agent: its own login, the installed program, and every way in which it fails."""

import base64
import json
import sys

import pytest

from onyx_jupyter.config.load import load
from onyx_jupyter.config.roles import PLAN_PROVIDERS, model_for
from onyx_jupyter.providers.known_providers import ACP, LOGIN_PROVIDERS
from onyx_jupyter.providers.subscriptions.program_logins import ProgramLogin, login_of
from tests.acp.agent_house import SCRIPT, AgentHouse

MODEL = "claude-subscription/default"


def file(*options: str, silence_ms: int = 60_000, env: dict[str, str] | None = None, **provider: str) -> str:
    agent = {"command": sys.executable, "args": [str(SCRIPT), *options], "env": env or {}}
    acp = {"agents": {"claude": agent, "codex": agent}, "silenceTimeoutMs": silence_ms}
    return json.dumps({"acp": acp, "providers": {"claude-subscription": provider}})


async def test_subscription_answers_and_usage_says_plan(tmp_path):
    async with AgentHouse(tmp_path, file=file()) as house:
        name, data = await house.do(await house.session(model=MODEL), "say Hello")
        assert (name, data["text"]) == ("chat.final", "Hello")
        assert (data["usage"]["plan"], data["usage"].get("costUsd")) == (True, None)
        assert house.model.requests == []


async def test_paid_keys_are_kept_from_it_and_the_configured_program_is_used(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-of-the-server")
    monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", "of-the-subscription")
    configured = file(env={"ANTHROPIC_AUTH_TOKEN": "of-the-file", "OWN": "yes"}, cliPath=sys.executable)
    async with AgentHouse(tmp_path, file=configured) as house:
        names = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OWN", "CLAUDE_CODE_EXECUTABLE")
        await house.do(await house.session(model=MODEL), *(f"env {name}" for name in names))
        assert "ANTHROPIC_API_KEY=None" in house.text()
        assert "ANTHROPIC_AUTH_TOKEN=None" in house.text()
        assert "OWN=yes" in house.text()
        assert f"CLAUDE_CODE_EXECUTABLE={sys.executable}" in house.text()


@pytest.mark.parametrize("provider", ["claude-subscription", "codex", "chatgpt"])
async def test_model_is_chosen_in_the_program(tmp_path, provider):
    async with AgentHouse(tmp_path, file=file()) as house:
        name, data = await house.do(await house.session(model=f"{provider}/large"), "model")
        assert (name, data["text"]) == ("chat.final", "model: large")
        name, data = await house.do(await house.session(model=f"{provider}/huge"), "say no")
        assert (name, data["code"]) == ("chat.error", "not_found")
        assert "default, small, large" in data["hint"]


async def test_program_that_is_not_there_is_named(tmp_path):
    async with AgentHouse(tmp_path, file=file(cliPath="/no/such/claude")) as house:
        name, data = await house.do(await house.session(model=MODEL), "say hi")
        assert (name, data["code"]) == ("chat.error", "not_found")
        assert "/no/such/claude" in data["message"]
        assert "cliPath" in data["hint"]


async def test_without_a_login_the_programs_own_sign_in_is_named(tmp_path):
    async with AgentHouse(tmp_path, file=file("signed-out")) as house:
        name, data = await house.do(await house.session(model="codex/default"), "say hi")
        assert (name, data["code"]) == ("chat.error", "authentication")
        assert "codex login" in data["hint"]
        assert "key" not in data["hint"]


async def test_timeout_keeps_what_was_said(tmp_path):
    async with AgentHouse(tmp_path, file=file("stubborn", silence_ms=1000)) as house:
        key = await house.session(model=MODEL)
        name, data = await house.do(key, "say Half an ans", "hang")
        assert (name, data["code"]) == ("chat.error", "timeout")
        assert "Half an ans" in "".join(one["content"] for one in house.entries(key, "assistant"))


async def test_error_of_the_program_is_shown_and_keeps_what_was_said(tmp_path):
    async with AgentHouse(tmp_path, file=file()) as house:
        key = await house.session(model=MODEL)
        name, data = await house.do(key, "say Half an ans", "fail")
        assert (name, data["code"]) == ("chat.error", "bad_response")
        assert "usage limit reached" in data["message"]
        assert "Half an ans" in "".join(one["content"] for one in house.entries(key, "assistant"))


def test_logins_are_read_with_their_account(tmp_path):
    where = {"CLAUDE_CONFIG_DIR": str(tmp_path), "CODEX_HOME": str(tmp_path)}
    assert (login_of("claude", where), login_of("codex", where), login_of("gemini", where)) == (None, None, None)
    (tmp_path / ".claude.json").write_text('{"oauthAccount": {"emailAddress": "me@example.org"}}')
    claims = base64.urlsafe_b64encode(b'{"email": "you@example.org"}').decode().rstrip("=")
    (tmp_path / "auth.json").write_text(json.dumps({"tokens": {"id_token": f"a.{claims}.c"}}))
    assert login_of("claude", where) == ProgramLogin("me@example.org")
    assert login_of("codex", where) == ProgramLogin("you@example.org")
    assert login_of("claude", {"CLAUDE_CODE_OAUTH_TOKEN": "t"}) == ProgramLogin()
    for broken in ("", "[]", '{"tokens": null}', '{"tokens": {"id_token": "a"}}', '{"OPENAI_API_KEY": "sk-x"}'):
        (tmp_path / "auth.json").write_text(broken)
        assert login_of("codex", where) is None


def test_in_the_background_a_subscription_works_only_if_chosen_for_it(tmp_path):
    assert frozenset({ACP, *LOGIN_PROVIDERS}) == PLAN_PROVIDERS

    def roles(**runtime: str) -> list[str | None]:
        agents = {"list": [{"id": "main", "default": True, "model": "copilot/gpt-x"}]}
        path = tmp_path / "onyx.json"
        config = load(json.dumps({"agents": agents, "runtime": runtime}), path, {}).config
        return [model_for(config, role, config.default_agent()) for role in ("default", "heartbeat", "consolidation")]

    assert roles() == ["copilot/gpt-x", None, None]
    assert roles(defaultModel="acp/claude") == ["copilot/gpt-x", None, None]
    assert roles(defaultModel="openai/gpt") == ["copilot/gpt-x", "openai/gpt", "openai/gpt"]
    chosen = roles(heartbeatModel="copilot/small", consolidationModel="codex/default")
    assert chosen == ["copilot/gpt-x", "copilot/small", "codex/default"]
