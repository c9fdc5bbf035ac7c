"""`subscriptions.*` on a real server against a scripted GitHub: the code, every end, and secrets that nobody sees."""

import json

import pytest

from onyx_jupyter.providers.subscriptions import copilot
from tests.providers.subscriptions.fake_github import DEVICE_SECRET, SIGN_IN, FakeGitHub
from tests.server.client import MethodFailed

PENDING = {"error": "authorization_pending"}
CODE = {"userCode": "ABCD-1234", "verificationUri": "https://github.com/login/device"}


@pytest.fixture
def github(onyx_home, monkeypatch):
    """Stands before the server starts, which then signs in here."""
    file = onyx_home / "onyx.json"
    config = json.loads(file.read_text())
    config["providers"]["copilot"] = {"clientId": "our-app", "models": ["gpt-x"]}
    file.write_text(json.dumps(config))
    with FakeGitHub(interval_s=0.02) as github:
        monkeypatch.setattr(copilot, "CopilotAddresses", github.addresses)
        yield github


async def card(client, name="copilot", **params):
    listed = (await client.ask("providers.list", **params))["providers"]
    return next(one for one in listed if one["name"] == name)


async def test_a_person_signs_in_chats_and_signs_out(github, connect, onyx_home, caplog):
    caplog.set_level("DEBUG")
    github.decisions = [PENDING]
    client = await connect()
    assert (await card(client))["subscription"]["state"] == "signed_out"
    code = await client.ask("subscriptions.begin", name="copilot")
    assert {name: code[name] for name in CODE} == CODE
    assert await client.event("subscriptions.updated") == {"name": "copilot", "state": "pending"}
    shown = (await card(client))["subscription"]
    assert (shown["state"], shown["code"]["userCode"]) == ("pending", "ABCD-1234")
    again = await client.ask("subscriptions.begin", name="copilot")
    assert (again["userCode"], len(github.asked("/code"))) == ("ABCD-1234", 1)

    github.decisions = [{"access_token": SIGN_IN}]
    await client.event("subscriptions.updated", state="signed_in")
    shown = await card(client)
    assert (shown["state"], shown["subscription"]["account"]) == ("ready", "octocat")
    assert "copilot/gpt-x" in shown["models"]
    key = (await client.ask("sessions.create", model="copilot/gpt-x"))["sessionKey"]
    name, data = await client.end((await client.ask("chat.send", sessionKey=key, message="Hi"))["runId"])
    assert (name, data["text"]) == ("chat.final", "Hello.")
    assert (data["usage"]["plan"], data["usage"].get("costUsd")) == (True, None)

    assert await client.ask("subscriptions.signOut", name="copilot") == {"ok": True}
    shown = await card(client)
    assert (shown["state"], shown["subscription"]["state"]) == ("not_configured", "signed_out")
    name, data = await client.end((await client.ask("chat.send", sessionKey=key, message="Hi"))["runId"])
    assert (name, data["code"]) == ("chat.error", "authentication")
    with pytest.raises(MethodFailed, match="No key is stored"):
        await client.ask("subscriptions.signOut", name="copilot")

    secrets = [SIGN_IN, DEVICE_SECRET, "tid=secret1"]
    assert not [frame for frame in client.raw for secret in secrets if secret in frame]
    files = [path for path in onyx_home.rglob("*") if path.is_file()]
    assert not [path.name for path in files for secret in secrets if secret.encode() in path.read_bytes()]
    assert not [secret for secret in secrets if secret in caplog.text]


@pytest.mark.parametrize(
    ("answer", "state"), [({"error": "access_denied"}, "denied"), ({"error": "expired_token"}, "expired")]
)
async def test_other_ends_are_told_and_the_next_try_gets_a_new_code(github, connect, answer, state):
    github.decisions = [PENDING, answer]
    client = await connect()
    await client.ask("subscriptions.begin", name="copilot")
    await client.event("subscriptions.updated", state=state)
    shown = (await card(client))["subscription"]
    assert shown["state"] == state
    assert shown["message"]
    github.decisions = [PENDING]
    await client.ask("subscriptions.begin", name="copilot")
    assert len(github.asked("/code")) == 2


async def test_cancel_ends_the_waiting(github, connect):
    github.decisions = [PENDING]
    client = await connect()
    await client.ask("subscriptions.begin", name="copilot")
    assert await client.ask("subscriptions.cancel", name="copilot") == {"ok": True}
    await client.event("subscriptions.updated", state="signed_out")
    polls = len(github.asked("/token"))
    assert (await card(client))["subscription"]["state"] == "signed_out"
    assert len(github.asked("/token")) == polls


async def test_a_revoked_sign_in_says_so(github, connect):
    client = await connect()
    await client.ask("credentials.set", name="copilot", secret="gho_revoked0000000000000000000000000000")
    tested = await client.ask("providers.test", name="copilot", model="copilot/gpt-x")
    assert (tested["ok"], tested["message"]) == (False, "GitHub no longer accepts the sign-in.")
    assert (await card(client))["state"] == "failing"


async def test_sign_in_needs_an_app_and_programs_sign_in_by_themselves(connect, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    client = await connect()
    assert (await card(client))["subscription"]["needsClientId"] is True
    with pytest.raises(MethodFailed, match="clientId"):
        await client.ask("subscriptions.begin", name="copilot")
    with pytest.raises(MethodFailed, match="`codex login` in a terminal"):
        await client.ask("subscriptions.begin", name="codex")
    with pytest.raises(MethodFailed, match="openai is not a subscription"):
        await client.ask("subscriptions.begin", name="openai")
    assert (await card(client, "claude-subscription"))["subscription"]["state"] == "not_installed"


async def test_login_of_an_installed_program_is_shown_with_its_account(connect, monkeypatch, tmp_path):
    program = tmp_path / "claude-agent-acp"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CODE_OAUTH_TOKEN", raising=False)
    client = await connect()
    shown = await card(client, "claude-subscription")
    assert (shown["state"], shown["subscription"]["state"]) == ("not_configured", "signed_out")
    (tmp_path / ".claude.json").write_text('{"oauthAccount": {"emailAddress": "me@example.org"}}')
    shown = await card(client, "claude-subscription")
    assert (shown["state"], shown["subscription"]["account"]) == ("ready", "me@example.org")
    assert shown["models"] == ["claude-subscription/default"]
    offered = {model["id"] for model in (await client.ask("models.list"))["models"]}
    assert "claude-subscription/default" in offered
