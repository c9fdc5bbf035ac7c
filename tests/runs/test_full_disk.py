"""A disk that takes no more, at every write of a turn: it ends clearly, loses nothing, runs nothing unasked."""

import asyncio
import os

import pytest

from onyx_jupyter.errors import StorageError
from onyx_jupyter.features.runs.tools import ask_user_tool
from onyx_jupyter.sessions import transcript as transcript_module
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.testing.script import Call
from tests.runs.house import House

SCRIPT = [
    ["I look. ", Call("peek", {"word": "a"})],
    ["I change. ", Call("touch", {"word": "b"})],
    ["I ask. ", Call("ask_user", {"question": "Go on?"})],
    "Done.",
]
# What a whole turn of that script writes, in order.
WRITES = (
    "user",
    "assistant",
    "tool",
    "assistant",
    "approval_request",
    "approval_resolved",
    "tool",
    "assistant",
    "question",
    "question_resolved",
    "tool",
    "assistant",
    "run_end",
)


class FullAfter:
    """Stands for `append_line`: so many lines are taken, then the disk is full, until `freed`."""

    def __init__(self, lines: int) -> None:
        self.left = lines
        self.freed = False
        self.taken: list[str] = []
        self._append = transcript_module.append_line

    def __call__(self, path, item) -> None:
        if self.left == 0 and not self.freed:
            with disk_errors("write to", path):
                raise OSError(28, os.strerror(28))
        self.left -= not self.freed
        self._append(path, item)
        self.taken.append(item["meta"].get("kind") or item["role"])


async def answer_everything(house: House) -> None:
    """A person who says yes to all, again and again where that could not be written down."""
    while True:
        await asyncio.sleep(0.005)
        for pending in house.onyx.approvals.pending():
            try:
                await house.onyx.approvals.approve(pending.request.approval_id, "ada", "once")
            except StorageError:
                await house.onyx.abort(pending.request.run_id)
        for question in house.onyx.questions.pending():
            try:
                await house.onyx.questions.answer(question.asked.question_id, "ada", "yes")
            except StorageError:
                await house.onyx.abort(question.asked.run_id)


def house_of(folder, script) -> House:
    return House(folder, script, more_tools=[ask_user_tool])


async def test_all_writes_of_a_turn_are_tested(tmp_path, monkeypatch):
    house = house_of(tmp_path, SCRIPT)
    key = await house.session()
    full = FullAfter(1000)
    monkeypatch.setattr(transcript_module, "append_line", full)
    person = asyncio.create_task(answer_everything(house))
    assert (await house.run(key))[1]["text"] == "Done."
    person.cancel()
    assert tuple(full.taken) == WRITES


@pytest.mark.parametrize("lines", range(1, len(WRITES)))
async def test_turn_ends_clearly_and_session_stays_usable(tmp_path, monkeypatch, lines):
    script = iter(SCRIPT)
    house = house_of(tmp_path, lambda request: "Back again." if request.messages[-1].text == "Again" else next(script))
    key = await house.session()
    full = FullAfter(lines)
    monkeypatch.setattr(transcript_module, "append_line", full)
    person = asyncio.create_task(answer_everything(house))
    name, data = await house.run(key)
    assert name == "chat.error"
    assert data["code"] == "storage"
    assert "No space is left" in data["message"]
    assert tuple(full.taken) == WRITES[:lines], "what was told of is there, and nothing else"
    assert house.onyx.approvals.pending() == []
    assert house.onyx.questions.pending() == []
    if "approval_resolved" not in full.taken:
        assert house.touch.done == []
    full.freed = True
    assert (await house.run(key, "Again"))[1]["text"] == "Back again."
    person.cancel()


async def test_message_that_cannot_be_stored_is_rejected(tmp_path, monkeypatch):
    house = house_of(tmp_path, ["Back again."])
    key = await house.session()
    full = FullAfter(0)
    monkeypatch.setattr(transcript_module, "append_line", full)
    with pytest.raises(StorageError, match="No space is left"):
        await house.send(key)
    assert house.of("chat.started") == []
    full.freed = True
    assert (await house.run(key))[1]["text"] == "Back again."
