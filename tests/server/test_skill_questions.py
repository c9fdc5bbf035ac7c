"""A cell that waits for a yes to a skill: the question is the server's, and ends with the answer or with who asked."""

import json

import pytest

from tests.server.client import MethodFailed
from tests.skills.notebooks import cell, write_notebook

CARDS = ["application/vnd.onyx.skill-question+json", "application/vnd.onyx.turn+json"]


@pytest.fixture
def fresh(onyx_home):
    """The file of a skill that nobody has trusted yet."""
    return write_notebook(onyx_home / "skills" / "fresh.ipynb", cell("print(1)"))


async def asked(client):
    return (await client.ask("skills.ask", name="fresh"))["questionId"]


async def look(client, question_id):
    return await client.ask("skills.question", questionId=question_id)


async def state(client):
    return (await client.ask("skills.get", name="fresh"))["skill"]["state"]


async def test_approval_trusts_what_was_shown_and_everyone_is_told_once(connect, fresh, onyx_home):
    kernel, page, other = await connect(), await connect(), await connect()
    question_id = await asked(kernel)
    shown = await look(page, question_id)
    assert shown["open"] is True
    assert "print(1)" in shown["detail"]["text"]
    assert shown["expiresAt"].endswith("Z")
    await page.ask("skills.answer", questionId=question_id, hash=shown["detail"]["skill"]["hash"])
    for client in (kernel, page, other):
        told = await client.event("skills.question_closed")
        assert told == {"questionId": question_id, "outcome": "trusted"}
    assert await state(kernel) == "ready"
    assert await look(other, question_id) == {"open": False}
    for answer in ({}, {"hash": shown["detail"]["skill"]["hash"]}):
        with pytest.raises(MethodFailed, match="no longer open") as late:
            await other.ask("skills.answer", questionId=question_id, **answer)
        assert late.value.data["code"] == "not_found"
    assert len(kernel.events("skills.question_closed")) == 1
    (entry,) = [
        line for line in map(json.loads, (onyx_home / "audit.jsonl").read_text().splitlines()) if "skill" in line
    ]
    assert entry["by"].startswith("user:")


async def test_denial_trusts_nothing(connect, fresh):
    kernel, page = await connect(), await connect()
    question_id = await asked(kernel)
    await page.ask("skills.answer", questionId=question_id)
    assert (await kernel.event("skills.question_closed"))["outcome"] == "declined"
    assert await look(page, question_id) == {"open": False}
    assert await state(page) == "untrusted"


async def test_approval_of_changed_text_is_rejected_and_question_stays(connect, fresh):
    kernel, page = await connect(), await connect()
    question_id = await asked(kernel)
    before = (await look(page, question_id))["detail"]["skill"]["hash"]
    write_notebook(fresh, cell("print(2)"))
    for wrong in (before, "", "0" * 64):
        with pytest.raises(MethodFailed) as refused:
            await page.ask("skills.answer", questionId=question_id, hash=wrong)
        assert refused.value.data["field"] == "hash"
    now = await look(page, question_id)
    assert "print(2)" in now["detail"]["text"]
    assert await state(page) == "untrusted"
    await page.ask("skills.answer", questionId=question_id, hash=now["detail"]["skill"]["hash"])
    assert (await kernel.event("skills.question_closed"))["outcome"] == "trusted"


async def test_question_ends_only_with_its_own_connection(connect, fresh):
    kernel, neighbour, page = await connect(), await connect(), await connect()
    mine, theirs = await asked(kernel), await asked(neighbour)
    shown = await look(page, mine)
    await kernel.close()
    assert (await page.event("skills.question_closed", questionId=mine))["outcome"] == "gone"
    assert await look(page, mine) == {"open": False}
    with pytest.raises(MethodFailed, match="no longer open"):
        await page.ask("skills.answer", questionId=mine, hash=shown["detail"]["skill"]["hash"])
    assert await state(page) == "untrusted"
    await page.close()
    assert (await look(neighbour, theirs))["open"] is True


@pytest.mark.parametrize("question_id", ["nobody", "", "../../onyx", "01ARZ3NDEKTSV4RRFFQ69G5FAV"])
async def test_unasked_question_is_not_open_and_answers_nothing(connect, fresh, question_id):
    client = await connect()
    digest = (await client.ask("skills.get", name="fresh"))["skill"]["hash"]
    assert await look(client, question_id) == {"open": False}
    for answer in ({}, {"hash": digest}):
        with pytest.raises(MethodFailed, match="no longer open"):
            await client.ask("skills.answer", questionId=question_id, **answer)
    assert await state(client) == "untrusted"
    assert client.events("skills.question_closed") == []


async def test_trust_given_in_panel_is_noticed(connect, fresh):
    kernel, page = await connect(), await connect()
    question_id = await asked(kernel)
    digest = (await page.ask("skills.get", name="fresh"))["skill"]["hash"]
    await page.ask("skills.trust", name="fresh", hash=digest)
    await kernel.event("skills.updated")
    assert await look(kernel, question_id) == {"open": False}
    assert (await page.event("skills.question_closed"))["outcome"] == "trusted"
    late = await asked(kernel)
    assert (await kernel.event("skills.question_closed", questionId=late))["outcome"] == "trusted"


async def test_unusable_skill_says_why(connect, fresh):
    client = await connect()
    broken = await asked(client)
    write_notebook(fresh, cell("print(1)"), requires={"python": ["no-such-package"]})
    assert await look(client, broken) == {"open": False}
    told = await client.event("skills.question_closed", questionId=broken)
    assert told["outcome"] == "unusable"
    assert "no-such-package" in told["reason"]
    fresh.unlink()
    told = await client.event("skills.question_closed", questionId=await asked(client))
    assert told["outcome"] == "unusable"
    assert "There is no skill 'fresh'" in told["reason"]


async def test_rendering_capability_is_reported_by_tab_only(connect, jp_fetch, jp_root_dir, jp_serverapp):
    write_notebook(jp_root_dir / "mine.ipynb", cell("x = 1"))
    kernel, tab, old = await connect(), await connect(), await connect()
    body = {"path": "mine.ipynb", "name": "mine.ipynb", "type": "notebook", "kernel": {"name": "python3"}}
    answer = await jp_fetch("api", "sessions", method="POST", body=json.dumps(body))
    kernel_id = json.loads(answer.body)["kernel"]["id"]

    async def cards():
        return (await kernel.ask("client.shows", kernelId=kernel_id))["cards"]

    assert await cards() == []
    notebooks = [{"path": "mine.ipynb", "active": True}]
    await tab.ask("client.update", notebooks=notebooks, cards=CARDS)
    assert await cards() == CARDS
    # A page from before an upgrade says nothing of cards: where one looks into it, there is none.
    await old.ask("client.update", notebooks=notebooks)
    assert await cards() == []
    await old.ask("client.update", notebooks=[])
    assert await cards() == CARDS
    await jp_serverapp.kernel_manager.shutdown_all(now=True)
