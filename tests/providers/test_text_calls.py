"""Tool calls written as text: recognized only if the whole answer is a call of an offered tool."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onyx_jupyter.protocols import ModelDone, TextDelta
from onyx_jupyter.providers.chat_answer import CallPiece, ChatChunk, chat_events
from onyx_jupyter.providers.error_map import Provider
from onyx_jupyter.providers.text_calls import TextCalls

OFFERED = {"exec", "read"}
CALL = '{"name": "exec", "arguments": {"command": "ls"}}'


def read(text: str, size: int = 1_000_000) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """What is said, and the calls, of a text that comes in pieces of that size."""
    reader = TextCalls(OFFERED)
    said = "".join(reader.feed(text[at : at + size]) for at in range(0, len(text), size))
    rest, calls = reader.finish()
    return said + rest, [(call.name, dict(call.arguments)) for call in calls]


@pytest.mark.parametrize("size", [1, 3, 1_000_000])
@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"\n  {CALL}\n",
        f"```json\n{CALL}\n```",
        f"```\n{CALL}\n```\n",
        f"```tool_call\n{CALL}```",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}",
        json.dumps(json.loads(CALL), indent=4),
        '{"arguments": {"command": "ls"}, "name": "exec"}',
        '{"name": "exec", "parameters": {"command": "ls"}}',
        '{"type": "function", "name": "exec", "parameters": {"command": "ls"}}',
        '{"name": "exec", "arguments": "{\\"command\\": \\"ls\\"}"}',
    ],
)
def test_text_consisting_of_a_call_is_a_call(text, size):
    assert read(text, size) == ("", [("exec", {"command": "ls"})])


@pytest.mark.parametrize("size", [1, 1_000_000])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "Hello.",
        f"To list files, send this:\n```json\n{CALL}\n```",
        f"```json\n{CALL}\n```\nThat lists the files.",
        f"{CALL} lists the files.",
        f"<tool_call>{CALL}</tool_call> Done.",
        f"<tool_call>{CALL}</tool_call>\n<tool_call>nothing</tool_call>",
        f"```python\n{CALL}\n```",
        f"[{CALL}]",
        f'```json\n{CALL}\n```\n```json\n{{"name": "exec"}}\n```',
        '{"name": "Ada", "arguments": {}}',
        '{"name": "exec"}',
        '{"name": "exec", "arguments": {}, "more": 1}',
        '{"name": "exec", "arguments": [1]}',
        '{"name": "exec", "arguments": {"command": NaN}}',
        '{"name": "exec", "arguments": {"command": "ls"',
        '{"name": ["exec"], "arguments": {}}',
        '```json\n{"a": 1}\n```',
        "```\nplain\n```",
    ],
)
def test_answer_showing_json_stays_an_answer(text, size):
    assert read(text, size) == (text, [])


def test_several_calls_come_in_order():
    both = f'<tool_call>{CALL}</tool_call>\n<tool_call>{{"name": "read", "arguments": {{}}}}</tool_call>'
    assert read(both) == ("", [("exec", {"command": "ls"}), ("read", {})])


def test_text_that_cannot_be_a_call_streams_immediately():
    for first in ("H", '{"nom', "```py", "<b", '{"name": "f', "```json\n["):
        assert TextCalls(OFFERED).feed(first) == first
    assert TextCalls(()).feed(CALL) == CALL


@given(
    st.lists(st.sampled_from(["{", "}", '"name"', ": ", '"exec"', "```", "json", "\n", " ", "<tool_call>", "x", CALL]))
)
@example(["```", "json", "\n", CALL, "\n", "```"])
def test_no_text_is_lost_or_repeated(pieces):
    """The text is all said, or it is all a call, however it is cut."""
    text = "".join(pieces)
    whole = read(text)
    assert whole[0] == text or (whole[0] == "" and whole[1])
    assert read(text, 1) == whole


def test_text_call_ends_answer_like_any_call():
    assert asyncio.run(_events([ChatChunk(CALL[:9]), ChatChunk(CALL[9:], finish_reason="stop")])) == (
        [],
        [("exec", {"command": "ls"})],
        "tool_calls",
    )


def test_text_beside_a_native_call_stays_text():
    true = CallPiece(0, "c", "read", "{}")
    assert asyncio.run(_events([ChatChunk(CALL), ChatChunk(calls=[true], finish_reason="tool_calls")])) == (
        [CALL],
        [("read", {})],
        "tool_calls",
    )


async def _events(chunks: list[ChatChunk]) -> tuple[list[str], list[tuple[str, dict[str, Any]]], str]:
    async def stream():
        for chunk in chunks:
            yield chunk

    provider = Provider("OpenAI", "openai", "m")
    events = [event async for event in chat_events(stream(), provider, as_action=False, offered=OFFERED)]
    (done,) = [event for event in events if isinstance(event, ModelDone)]
    said = [event.text for event in events if isinstance(event, TextDelta)]
    return said, [(call.name, dict(call.arguments)) for call in done.tool_calls], done.finish_reason
