"""What goes along with a message, on a real server: also where the tab that sends it has to be asked itself."""

import json

import pytest

from tests.notebook.kernels import KernelPlace
from tests.server.client import Client, MethodFailed

CELLS = [
    {"id": "c1", "cellType": "code", "source": "df['month']", "executionCount": 2, "outputs": [
        {"output_type": "error", "ename": "KeyError", "evalue": "'month'", "traceback": ["KeyError: 'month'"]},
    ]},
]  # fmt: skip
ERROR = {"type": "error", "path": "plot.ipynb", "cellId": "c1"}


@pytest.fixture
def kernels(jp_serverapp, jp_root_dir, jp_asyncio_loop):
    yield KernelPlace(jp_serverapp, jp_root_dir)
    jp_asyncio_loop.run_until_complete(jp_serverapp.kernel_manager.shutdown_all(now=True))


async def tab_with_notebook(connect) -> Client:
    tab = await connect()
    await tab.ask("client.update", notebooks=[{"path": "plot.ipynb", "active": True}])
    return tab


async def answer_reading(tab: Client, times: int = 1) -> None:
    """The tab gives its cells as often as it is asked to."""
    for number in range(1, times + 1):
        frame = await tab.until(lambda _, n=number: len(tab.events("client.request")) >= n)
        assert frame
        request = tab.events("client.request")[number - 1]
        kernel = {"name": "python3", "status": "idle"}
        result = {"path": "plot.ipynb", "cells": CELLS, "kernel": kernel}
        await tab.ask("client.respond", requestId=request["requestId"], result=result)


async def test_sending_tab_is_asked_for_its_cell_and_messages_keep_order(connect, replies):
    tab = await tab_with_notebook(connect)
    key = (await tab.ask("sessions.create"))["sessionKey"]
    first = await tab.post("chat.send", sessionKey=key, message="Fix it", context=[ERROR])
    second = await tab.post("chat.send", sessionKey=key, message="And then?", whenBusy="followup")
    await tab.ask("health.check")  # answered while the message still waits for its context
    assert not [frame for frame in tab.frames if frame.get("id") in (first, second)]
    await answer_reading(tab)
    sent = (await tab.answer(first))["result"]
    (item,) = sent["context"]
    assert (item["label"], item["cellId"]) == ("cell 1", "c1")
    assert item["text"].endswith("df['month']\n--- error:\nKeyError: 'month'")
    later = (await tab.answer(second))["result"]
    await tab.end(later["runId"])
    said = [m for m in (await tab.ask("chat.history", sessionKey=key))["messages"] if m["role"] == "user"]
    assert [m["content"] for m in said] == ["Fix it", "And then?"]
    assert said[0]["meta"]["context"] == [{k: v for k, v in item.items() if v is not None}]
    assert item["text"] in replies.requests[0].last_user_text


async def test_preview_equals_sent_text_and_leaves_no_trace(connect, replies, jp_root_dir):
    jp_root_dir.joinpath("notes.txt").write_text("first\nsecond\n")
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    items = [
        {"type": "file", "path": "notes.txt"},
        {"type": "selection", "path": "notes.txt", "text": "second", "startLine": 2, "endLine": 2},
        {"type": "notebook", "path": "plot.ipynb"},
    ]
    shown = (await client.ask("context.preview", sessionKey=key, items=items))["items"]
    assert [item["tokens"] > 0 for item in shown] == [True, True, True]
    assert "first\nsecond" in shown[0]["text"]
    assert (await client.ask("context.preview", items=items))["items"] == shown
    assert len((await client.ask("chat.history", sessionKey=key))["messages"]) == 1
    assert replies.requests == []
    sent = await client.ask("chat.send", sessionKey=key, message="Look", context=items)
    assert sent["context"] == shown
    await client.end(sent["runId"])
    assert all(item["text"] in replies.requests[0].last_user_text for item in shown if item.get("text"))


async def test_unreadable_item_is_reported_and_message_is_sent(connect, replies, onyx_home):
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    items = [
        {"type": "file", "path": str(onyx_home / "onyx.json")},
        {"type": "file", "path": "../../etc/passwd"},
        {"type": "cell", "path": "nowhere.ipynb", "cellId": "c1"},
    ]
    sent = await client.ask("chat.send", sessionKey=key, message="Look", context=items)
    assert (await client.end(sent["runId"]))[0] == "chat.final"
    assert all(item["problem"] and item["text"] == f"[Not sent: {item['problem']}]" for item in sent["context"])
    assert "apiKey" not in json.dumps(replies.requests[0].body["messages"])
    assert "Not sent: The path" in replies.requests[0].last_user_text


async def test_tab_closing_while_asked_loses_no_message(connect, replies):
    tab = await tab_with_notebook(connect)
    watcher = await connect()
    key = (await watcher.ask("sessions.create"))["sessionKey"]
    await watcher.ask("sessions.subscribe", sessionKey=key)
    await tab.post("chat.send", sessionKey=key, message="Fix it", context=[ERROR])
    await tab.event("client.request")
    await tab.close()
    await watcher.until(lambda frame: frame.get("event") == "chat.final")
    (said,) = [m for m in (await watcher.ask("chat.history", sessionKey=key))["messages"] if m["role"] == "user"]
    assert said["meta"]["context"][0]["problem"]


async def test_variable_is_sent_as_redacted_summary_or_reports_missing_kernel(connect, replies, kernels):
    frame = {"type": "variable", "path": "work.ipynb", "name": "frame"}
    client = await connect()
    (none,) = (await client.ask("context.preview", items=[frame]))["items"]
    assert "no running kernel" in none["problem"]
    await kernels.run(
        "import pandas as pd\nframe = pd.DataFrame({'mass': [3700, 5000]})\nkey = 'sk-proj-' + 'a1B2' * 12"
    )
    key = (await client.ask("sessions.create"))["sessionKey"]
    items = [frame, {**frame, "name": "key"}, {**frame, "name": "gone"}]
    sent = await client.ask("chat.send", sessionKey=key, message="Look", context=items)
    await client.end(sent["runId"])
    told, secret, gone = sent["context"]
    assert "3700" in told["text"]
    assert "mass" in told["text"]
    assert told["text"] in replies.requests[0].last_user_text
    assert "[redacted:" in secret["text"]
    assert "a1B2" not in json.dumps([client.frames, replies.requests[0].body])
    assert "gone" in gone["problem"]


@pytest.mark.parametrize(
    ("item", "named"),
    [
        ({"type": "variable", "path": "a.ipynb"}, "name"),
        ({"type": "error", "path": "a.ipynb"}, "cellId"),
        ({"type": "selection", "path": "a.py"}, "text"),
        ({"type": "selection", "path": "a.py", "text": "x", "startLine": 0}, "startLine"),
        ({"type": "file", "path": "x" * 5000}, "path"),
        ({"type": "file", "path": "x", "lines": "1-2"}, "lines"),
    ],
)
async def test_incomplete_item_is_rejected_naming_the_field(connect, item, named):
    client = await connect()
    with pytest.raises(MethodFailed) as refused:
        await client.ask("context.preview", items=[item])
    assert refused.value.code == -32602
    assert named in str(refused.value)
    with pytest.raises(MethodFailed):
        await client.ask("context.preview", items=[{"type": "file", "path": "x"}] * 31)
