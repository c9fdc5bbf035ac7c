"""Onboarding on the socket of a real server: answers survive a restart, and nothing is written that was not shown."""

import json

import pytest

from tests.server.client import MethodFailed

PRAISE = "No filler praise. State corrections directly."


async def told(client, question_id, *choices, text=""):
    return await client.ask("onboarding.answer", questionId=question_id, choices=list(choices), text=text)


async def confirm(client):
    files = (await client.ask("onboarding.preview"))["files"]
    seen = [{key: file[key] for key in ("path", "basedOn", "checksum")} for file in files]
    return (await client.ask("onboarding.write", files=seen))["paths"]


def system_of(request):
    return "".join(str(message["content"]) for message in request.body["messages"] if message["role"] == "system")


async def test_answers_become_files_only_once_they_were_shown_and_then_reach_the_model(connect, replies, onyx_home):
    one, two = await connect(), await connect()
    begun = await one.ask("onboarding.state")
    assert (begun["offered"], begun["number"], begun["question"]["id"]) == (True, 1, "name")
    workspace = onyx_home / "workspace"
    before = {file.name: file.read_text() for file in workspace.glob("*.md")}
    await told(one, "name", text="Ada")
    await told(one, "annoyances", "sycophancy", text="Emojis")
    await told(one, "boundaries", "git")
    state = await told(one, "assistant", text="Nova")
    assert (state["question"]["id"], state["answered"][0]) == (
        "manner",
        {"text": "What should Onyx call you?", "answer": "Ada"},
    )
    await two.event("onboarding.updated", agentId="main")
    assert (await told(two, "more", "yes"))["phase"] == "Mission and goals"
    await told(two, "mission", text="Cleaner rivers.")
    assert (await one.ask("onboarding.skip", questionId="trust")).get("question") is None
    files = {file["path"]: file for file in (await one.ask("onboarding.preview"))["files"]}
    assert list(files) == ["SOUL.md", "USER.md", "IDENTITY.md", "AGENTS.md", "USER/MISSION.md"]
    assert f"+- {PRAISE}" in files["SOUL.md"]["diff"]
    assert (files["USER/MISSION.md"]["isNew"], files["SOUL.md"]["isNew"]) == (True, False)
    assert {file.name: file.read_text() for file in workspace.glob("*.md")} == before
    assert not (workspace / "USER").exists()

    assert await confirm(one) == list(files)
    for path, file in files.items():
        assert (workspace / path).read_text() == file["text"]
    assert (await one.ask("onboarding.preview"))["files"] == []
    state = await one.ask("onboarding.state")
    assert (state["offered"], state["begun"], state["question"]["words"]) == (False, False, "Ada")
    versions = (await one.ask("memory.versions", path="SOUL.md"))["versions"]
    assert [version["author"] for version in versions] == ["user", "user"]
    former = await one.ask("memory.read", path="SOUL.md", version=versions[-1]["version"])
    assert former["text"] == before["SOUL.md"]

    key = (await one.ask("sessions.create"))["sessionKey"]
    run_id = (await one.ask("chat.send", sessionKey=key, message="Go", mode="ask"))["runId"]
    await one.end(run_id)
    system = system_of(replies.requests[-1])
    assert PRAISE in system
    assert "read USER/MISSION.md when" in system
    assert "Cleaner rivers." not in system
    found = await one.ask("memory.read", path="USER/MISSION.md")
    assert "- Cleaner rivers." in found["text"]


async def test_a_file_that_changed_since_it_was_shown_stops_all_of_them(connect, onyx_home):
    client = await connect()
    await told(client, "name", text="Ada")
    await told(client, "annoyances", "sycophancy")
    files = (await client.ask("onboarding.preview"))["files"]
    seen = [{key: file[key] for key in ("path", "basedOn", "checksum")} for file in files]
    soul, user = onyx_home / "workspace" / "SOUL.md", onyx_home / "workspace" / "USER.md"
    soul.write_text("# Mine\n")
    former = user.read_text()
    for shown in (seen, seen[:1], [{**seen[0], "checksum": "other"}, seen[1]]):
        with pytest.raises(MethodFailed) as failed:
            await client.ask("onboarding.write", files=shown)
        assert failed.value.data["code"] == "memory_conflict"
    assert (soul.read_text(), user.read_text()) == ("# Mine\n", former)
    assert await confirm(client) == ["SOUL.md", "USER.md"]
    assert soul.read_text().startswith("# Mine\n\n## How you speak\n")


async def test_answers_are_kept_and_a_repetition_takes_back_only_what_it_wrote(connect, onyx_home):
    client = await connect()
    await told(client, "annoyances", "sycophancy")
    await confirm(client)
    soul = onyx_home / "workspace" / "SOUL.md"
    soul.write_text(soul.read_text().replace(f"- {PRAISE}\n", f"- {PRAISE}\n- My own.\n"))
    kept = json.loads((onyx_home / "onboarding" / "main.json").read_text())
    assert kept["answers"]["annoyances"]["choices"] == ["sycophancy"]
    await told(client, "annoyances", "lectures")
    assert await confirm(client) == ["SOUL.md"]
    text = soul.read_text()
    assert PRAISE not in text
    assert "- My own.\n" in text
    assert "No warnings or moral advice" in text


async def test_a_file_that_cannot_be_read_is_named_and_left_alone(connect, onyx_home):
    client = await connect()
    await told(client, "name", text="Ada")
    await told(client, "annoyances", "sycophancy")
    soul = onyx_home / "workspace" / "SOUL.md"
    soul.write_bytes(b"\xff\xfe")
    files = {file["path"]: file for file in (await client.ask("onboarding.preview"))["files"]}
    assert "not UTF-8" in files["SOUL.md"]["problem"]
    shown = [{key: files["USER.md"][key] for key in ("path", "basedOn", "checksum")}]
    assert (await client.ask("onboarding.write", files=shown))["paths"] == ["USER.md"]
    assert soul.read_bytes() == b"\xff\xfe"


async def test_damaged_answers_begin_anew_and_an_edited_home_is_not_bothered(connect, onyx_home):
    (onyx_home / "onboarding").mkdir()
    (onyx_home / "onboarding" / "main.json").write_text("{")
    client = await connect()
    assert (await client.ask("onboarding.state"))["question"]["id"] == "name"
    (onyx_home / "workspace" / "USER.md").write_text("# User\n\n- Name: Ada\n")
    assert not (await client.ask("onboarding.state"))["offered"]
    assert (await told(client, "name", text="Ada"))["offered"]


async def test_unknown_agents_questions_and_choices_are_refused(connect, onyx_home):
    client = await connect()
    for method, params in (
        ("onboarding.state", {"agentId": "../main"}),
        ("onboarding.answer", {"questionId": "x"}),
        ("onboarding.answer", {"questionId": "role", "choices": ["x"]}),
        ("onboarding.skip", {"questionId": "x"}),
        ("onboarding.answer", {"questionId": "name", "text": "x" * 3000}),
    ):
        with pytest.raises(MethodFailed):
            await client.ask(method, **params)
    assert not (onyx_home / "onboarding").exists() or not list((onyx_home / "onboarding").glob("*.json"))


async def test_own_words_are_phrased_by_the_model_and_kept_only_with_the_answer(connect, replies):
    client = await connect()
    replies.next = ["Avoid: “emojis in answers”\n"]
    phrased = await client.ask("onboarding.phrase", questionId="annoyances", text="it puts emojis everywhere")
    assert phrased == {"text": "emojis in answers", "line": "Avoid: emojis in answers"}
    (request,) = replies.requests
    assert "it puts emojis everywhere" in str(request.body["messages"])
    assert (await client.ask("onboarding.state"))["begun"] is False


@pytest.mark.parametrize("answer", ["", "First line\nSecond line", "far too long " * 30])
async def test_answer_that_is_no_short_line_is_refused(connect, replies, answer):
    client = await connect()
    replies.next = [answer]
    with pytest.raises(MethodFailed, match="Your words stay"):
        await client.ask("onboarding.phrase", questionId="annoyances", text="emojis")


async def test_name_is_never_sent_to_be_phrased(connect, replies):
    client = await connect()
    with pytest.raises(MethodFailed, match="cannot be phrased"):
        await client.ask("onboarding.phrase", questionId="name", text="Ada")
    assert replies.requests == []
