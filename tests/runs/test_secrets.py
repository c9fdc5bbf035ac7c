"""A secret that comes from anywhere is nowhere afterwards: not with the model, not on a screen, not on disk."""

import base64
import json

from onyx_jupyter.messages import Attachment, ToolResult
from onyx_jupyter.security.external_content import unfenced
from onyx_jupyter.testing.script import Call, Fail, Hang, Say
from tests.runs.house import House
from tests.security.secret_samples import MIXED, SECRETS
from tests.waiting import until

KEY = f"sk-proj-{MIXED}"
CONFIGURED = "configured-value-1"
CONFIG = f"{{ providers: {{ lab: {{ apiKey: '{CONFIGURED}', baseUrl: 'http://host/v1' }} }} }}"


def everything(house: House) -> str:
    """All that a watcher, a model or the disk got to know."""
    files = [path.read_text("utf-8") for path in house.home.sessions.rglob("*") if path.is_file()]
    return json.dumps(house.events) + repr(house.model.requests) + "".join(files)


async def test_typed_and_attached_text_is_stored_and_sent_without_secrets(tmp_path):
    house = House(tmp_path, ["Fine"], config=CONFIG)
    key = await house.session(title=f"About {KEY}")
    context = [{"type": "cell", "path": "a.ipynb", "text": f"api_key = '{MIXED}'"}]
    await house.run(key, f"My key is {KEY}, and {CONFIGURED}", context=context)
    assert house.lines(key)[1]["content"] == "My key is [redacted:openai-key], and [redacted:lab-key]"
    assert house.model.requests[0].messages[0].content == house.lines(key)[1]["content"]
    assert "[redacted:api-key]" in house.model.requests[0].messages[0].context
    for secret in (KEY, MIXED, CONFIGURED):
        assert secret not in everything(house)


async def test_answer_repeating_a_secret_is_redacted_however_chunked(tmp_path):
    for size in (1, 3, 7):
        folder = tmp_path / str(size)
        folder.mkdir()
        house = House(folder, [[Say(f"It is {KEY}. And {CONFIGURED}.", chunk_chars=size)]], config=CONFIG)
        key = await house.session()
        _, data = await house.run(key)
        expected = "It is [redacted:openai-key]. And [redacted:lab-key]."
        assert data["text"] == expected
        assert "".join(delta["text"] for delta in house.of("chat.delta")) == expected
        assert house.lines(key)[2]["content"] == expected
        assert MIXED[:8] not in everything(house)
        await house.close()


async def test_result_attached_text_and_error_are_redacted(tmp_path):
    house = House(tmp_path, [[Call("peek")], [Fail("unavailable", f"GET http://host/?token={MIXED} failed")]])

    async def run(arguments, context):
        context.progress(f"using {KEY}")
        data = base64.b64encode(f"key {KEY}".encode()).decode()
        return ToolResult(f"found {KEY}", attachments=(Attachment("file", "text/plain", data),))

    house.peek.call = run
    key = await house.session()
    assert (await house.run(key))[0] == "chat.error"
    (line,) = house.results(key).values()
    assert unfenced(line["content"]) == "found [redacted:openai-key]"
    assert base64.b64decode(line["meta"]["attachments"][0]["data"]) == b"key [redacted:openai-key]"
    assert house.of("tool.progress")[0]["message"] == "using [redacted:openai-key]"
    assert MIXED not in everything(house)
    assert base64.b64encode(KEY.encode()).decode()[:20] not in everything(house)


async def test_call_with_secret_or_redaction_mark_is_rejected_before_approval(tmp_path):
    for word, place in ((f"curl -H 'Authorization: Bearer {MIXED}'", "bearer-token"), ("x [redacted:token]", "token")):
        folder = tmp_path / place
        folder.mkdir()
        house = House(folder, [[Call("touch", {"word": word})], "I will ask"])
        key = await house.session()
        assert (await house.run(key))[0] == "chat.final"
        assert house.touch.done == []
        assert house.of("exec.approval_request") == []
        (line,) = house.results(key).values()
        assert "`word` contains [redacted:" in line["content"]
        assert "environment variable" in line["content"]
        assert MIXED not in everything(house)
        await house.close()


async def test_read_only_tool_gets_redaction_mark_and_never_the_secret(tmp_path):
    house = House(tmp_path, [[Call("peek", {"word": KEY})], "Nothing"])
    key = await house.session()
    await house.run(key)
    assert house.peek.done == ["[redacted:openai-key]"]
    assert house.of("tool.started")[0]["input"] == {"word": "[redacted:openai-key]"}


async def test_approval_is_shown_unredacted_and_redacted_elsewhere(tmp_path):
    """What is approved is what runs, so whoever decides sees all of it; every other place is without secrets."""
    house = House(tmp_path, [[f"I found {KEY}", Call("touch", {"word": "x"})], "Done"])
    house.touch.target = f"api_key = '{MIXED}'"
    key = await house.session()
    run_id = await house.send(key)
    await house.asked()
    (request,) = house.of("exec.approval_request")
    assert request["details"]["target"] == f"api_key = '{MIXED}'"
    assert request["details"]["why"] == "I found [redacted:openai-key]"
    (pending,) = house.onyx.approvals.pending()
    assert pending.request.details["target"] == f"api_key = '{MIXED}'"
    await house.approve()
    assert (await house.end(run_id))[0] == "chat.final"
    assert house.touch.done == ["x"]
    house.events = [event for event in house.events if event[0] != "exec.approval_request"]
    assert MIXED not in everything(house)
    assert MIXED not in house.home.audit_file.read_text()
    assert "[redacted:api-key]" in house.home.audit_file.read_text()


async def test_denial_reason_is_sent_and_stored_redacted(tmp_path):
    house = House(tmp_path, [[Call("touch", {"word": "x"})], "Good"])
    key = await house.session()
    run_id = await house.send(key)
    await house.deny(f"use {KEY} instead")
    await house.end(run_id)
    assert house.of("exec.approval_resolved")[0]["reason"] == "use [redacted:openai-key] instead"
    assert MIXED not in everything(house)


async def test_note_and_its_data_are_redacted(tmp_path):
    house = House(tmp_path)
    key = await house.session()
    transcript = await house.onyx.sessions.get(key)
    await transcript.append_note("r1", "any", f"with {KEY}", {"password": "Winter-2031x", "more": [KEY]})
    note = house.lines(key)[-1]
    assert note["content"] == "with [redacted:openai-key]"
    assert note["meta"]["data"] == {"password": "[redacted:password]", "more": ["[redacted:openai-key]"]}


async def test_every_secret_pattern_is_redacted_from_whole_turn(tmp_path):
    text = "\n".join(text for text, _ in SECRETS.values())
    house = House(tmp_path, [[Say(text, chunk_chars=5), Call("peek", {"word": text})], [Say(text, chunk_chars=2)]])
    key = await house.session()
    assert (await house.run(key, text))[0] == "chat.final"
    seen = everything(house)
    for kind, (_, hidden) in SECRETS.items():
        assert hidden not in seen, kind
        assert f"[redacted:{kind}]" in seen


async def test_with_filter_off_only_known_values_are_redacted(tmp_path):
    off = CONFIG[:-1] + ", security: { secretsFilter: false } }"
    house = House(tmp_path, [f"{KEY} {CONFIGURED}"], config=off)
    key = await house.session()
    assert (await house.run(key))[1]["text"] == f"{KEY} [redacted:lab-key]"


async def test_partial_reply_file_contains_no_secret(tmp_path):
    hang = Hang()
    house = House(tmp_path, [[Say(f"It is {KEY} here", chunk_chars=4), hang]])
    key = await house.session()
    run_id = await house.send(key)
    await until(hang.reached.is_set)
    partial = house.file(key).with_suffix(".partial")
    await until(lambda: partial.exists() and "here" in partial.read_text())
    assert "[redacted:openai-key]" in "".join(json.loads(line)["text"] for line in partial.read_text().splitlines())
    assert MIXED[:8] not in partial.read_text()
    await house.onyx.abort(run_id)
    await house.end(run_id)


async def test_same_messages_yield_same_request_at_every_step(tmp_path):
    house = House(tmp_path, [[Call("peek", {"word": "a"})], [Call("peek", {"word": "b"})], "Done"])
    key = await house.session()
    await house.run(key, f"With {KEY}")
    first, second, third = (list(request.messages) for request in house.model.requests)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
