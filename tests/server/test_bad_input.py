"""What a client should never send: each gets a clear error, nothing is lost, and the socket stays up."""

import json

import pytest

from onyx_jupyter.operations.limits import MAX_FRAME_BYTES, MAX_MESSAGE_CHARS
from tests.server.client import MethodFailed


async def refused(client, text) -> dict:
    before = len(client.frames)
    await client.connection.write_message(text, binary=isinstance(text, bytes))
    await client.until(lambda frame: frame in client.frames[before:] and "error" in frame)
    assert (await client.ask("health.check"))["status"] == "ok"
    return client.frames[before]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "{",
        '{"id": "a", "method": "health.check"',
        "\u0000",
        "[" * 100_000,
        '{"a":' * 100_000,
        b"\xff\xfe",
    ],
)
async def test_invalid_json_gets_a_parse_error(connect, text):
    client = await connect()
    answer = await refused(client, text)
    assert answer["id"] is None
    assert answer["error"]["code"] == -32700
    assert len(answer["error"]["message"]) < 500


@pytest.mark.parametrize(
    ("text", "request_id"),
    [
        ("[]", None),
        ("3", None),
        ('"health.check"', None),
        ("null", None),
        ("{}", None),
        ('{"id": 5, "method": "health.check"}', None),
        ('{"id": null, "method": "health.check"}', None),
        ('{"id": "a"}', "a"),
        ('{"id": "a", "method": 5}', "a"),
        ('{"id": "a", "method": "health.check", "params": []}', "a"),
        ('{"id": "a", "method": "health.check", "params": "x"}', "a"),
    ],
)
async def test_json_that_is_no_request_explains_the_format(connect, text, request_id):
    answer = await refused(await connect(), text)
    assert (answer["id"], answer["error"]["code"]) == (request_id, -32600)


@pytest.mark.parametrize("method", ["chat.sned", "", "__class__", "chat", "health.check ", "HEALTH.CHECK", "x" * 1000])
async def test_unknown_method_lists_existing_ones(connect, method):
    client = await connect()
    answer = await refused(client, json.dumps({"id": "a", "method": method, "params": {}}))
    assert (answer["id"], answer["error"]["code"]) == ("a", -32601)
    assert "chat.send" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("method", "params", "field"),
    [
        ("chat.send", {"message": "x"}, "sessionKey"),
        ("chat.send", {"sessionKey": "KEY"}, "message"),
        ("chat.send", {"sessionKey": "KEY", "message": ""}, "message"),
        ("chat.send", {"sessionKey": "KEY", "message": 5}, "message"),
        ("chat.send", {"sessionKey": ["KEY"], "message": "x"}, "sessionKey"),
        ("chat.send", {"sessionKey": "KEY", "message": "x", "mode": "root"}, "mode"),
        ("chat.send", {"sessionKey": "KEY", "message": "x", "extra": 1}, "extra"),
        (
            "chat.send",
            {"sessionKey": "KEY", "message": "x", "context": [{"type": "url", "path": "x"}]},
            "context.0.type",
        ),
        ("chat.send", {"sessionKey": "KEY", "message": "x" * (MAX_MESSAGE_CHARS + 1)}, "message"),
        ("chat.send", {"sessionKey": "KEY", "message": "\ud83d"}, "message"),
        ("chat.composing", {"sessionKey": "KEY"}, "text"),
        ("chat.composing", {"text": "x" * 1001}, "text"),
        ("chat.composing", {"text": "x", "mode": "root"}, "mode"),
        ("chat.history", {"sessionKey": "KEY", "limit": 0}, "limit"),
        ("chat.history", {"sessionKey": "KEY", "limit": "many"}, "limit"),
        ("chat.history", {"sessionKey": "KEY", "before": "nobody"}, "before"),
        ("sessions.create", {"title": "x" * 201}, "title"),
        ("sessions.list", {"limit": 1001}, "limit"),
        ("sessions.list", {"offset": -1}, "offset"),
        ("sessions.list", {"status": "deleted"}, "status"),
        ("sessions.subscribe", {"sessionKey": "KEY", "afterSeq": -1}, "afterSeq"),
        ("sessions.subscribe", {"sessionKey": "KEY", "afterSeq": 1e400}, "afterSeq"),
        ("exec.approve", {"approvalId": "a", "scope": "forever"}, "scope"),
        ("exec.deny", {"approvalId": "a", "reason": "x" * 2001}, "reason"),
        ("health.check", {"verbose": True}, "verbose"),
        ("client.update", {"notebooks": [{"active": True}]}, "notebooks.0.path"),
    ],
)
async def test_invalid_parameter_is_named_and_nothing_happens(connect, replies, method, params, field):
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    params = {name: key if value == "KEY" else value for name, value in params.items()}
    with pytest.raises(MethodFailed) as error:
        await client.ask(method, **params)
    assert error.value.code == -32602
    assert error.value.data["field"] == field
    assert f"`{field}`" in str(error.value)
    assert len(str(error.value)) < 500
    entries = (await client.ask("sessions.get", sessionKey=key))["messages"]
    assert len(entries) == 1
    assert replies.requests == []


@pytest.mark.parametrize("method", ["sessions.get", "sessions.subscribe", "chat.history", "chat.send"])
@pytest.mark.parametrize("key", ["nobody", "../../onyx", "*", "\x00", ""])
async def test_missing_session_is_not_found(connect, method, key):
    client = await connect()
    with pytest.raises(MethodFailed) as error:
        await client.ask(method, sessionKey=key, **({"message": "x"} if method == "chat.send" else {}))
    assert error.value.code == -32000
    assert error.value.data["code"] == "not_found"


@pytest.mark.parametrize("method", ["exec.approve", "exec.deny"])
async def test_missing_approval_is_not_found(connect, method):
    client = await connect()
    with pytest.raises(MethodFailed) as error:
        await client.ask(method, approvalId="nobody")
    assert error.value.data["code"] == "not_found"
    assert await client.ask("chat.abort", runId="nobody") == {"ok": False}
    assert await client.ask("client.respond", requestId="nobody") == {"ok": False}


async def test_missing_agent_lists_existing_ones(connect):
    client = await connect()
    with pytest.raises(MethodFailed, match=r"no agent 'ghost'\. Agents: main"):
        await client.ask("sessions.create", agentId="ghost")
    assert (await client.ask("sessions.list"))["total"] == 0


async def test_longest_allowed_message_is_answered_and_stored_completely(connect, replies):
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    message = "grün😀 " * (MAX_MESSAGE_CHARS // 6) + "end."
    run_id = (await client.ask("chat.send", sessionKey=key, message=message))["runId"]
    name, data = await client.end(run_id)
    assert name == "chat.final", data
    assert (await client.ask("chat.history", sessionKey=key))["messages"][1]["content"] == message
    asked = replies.requests[0].last_user_text  # longer than the model can read: it gets head and tail
    assert len(asked) < len(message)
    assert (asked[:1000], asked[-1000:]) == (message[:1000], message[-1000:])


async def test_oversized_frame_closes_with_1009_and_server_stays_up(connect):
    client, other = await connect(), await connect()
    head_of_a_masked_text_frame = b"\x81\xff" + (MAX_FRAME_BYTES + 1).to_bytes(8, "big") + b"mask"
    await client.connection.protocol.stream.write(head_of_a_masked_text_frame)
    assert await client.gone() == 1009
    assert (await other.ask("health.check"))["status"] == "ok"
    assert (await (await connect()).ask("sessions.list"))["total"] == 0


async def test_request_in_binary_frame_is_answered(connect):
    client = await connect()
    await client.connection.write_message(b'{"id":"b","method":"sessions.list","params":null}', binary=True)
    assert (await client.answer("b"))["result"] == {"sessions": [], "total": 0, "isWhole": True}


async def test_unusable_home_is_reported_and_socket_stays_open(connect, onyx_home):
    moved = onyx_home.with_name("elsewhere")
    onyx_home.rename(moved)
    onyx_home.write_text("in the way")
    client = await connect()
    with pytest.raises(MethodFailed, match="Could not create") as error:
        await client.ask("sessions.list")
    assert error.value.data["code"] == "storage"
    health = await client.ask("health.check")
    assert health["status"] == "degraded"
    assert health["components"]["storage"]["ok"] is False
    onyx_home.unlink()
    moved.rename(onyx_home)
    assert (await client.ask("sessions.list"))["total"] == 0
    assert (await client.ask("health.check"))["status"] == "ok"


async def test_invalid_configuration_is_in_health_until_fixed_and_refreshed(connect, onyx_home):
    good = (onyx_home / "onyx.json").read_text()
    (onyx_home / "onyx.json").write_text("{\n  runtime: { maxTurns: 'many' } }")
    client = await connect()
    health = await client.ask("health.check")
    assert health["status"] == "degraded"
    assert "line 2" in health["components"]["config"]["message"]
    assert health["components"]["config"]["hint"]
    (onyx_home / "onyx.json").write_text(good)
    await client.ask("models.list", refresh=True)
    assert (await client.ask("health.check"))["status"] == "ok"
