"""What a first question costs before anybody has said much: prompt, tools and packaged skills within a bound."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

MAX_TOKENS = 4_000


@pytest.fixture
def tokens(monkeypatch):
    """How many cl100k tokens a text has; LiteLLM brings the vocabulary along."""
    import tiktoken

    folder = Path(find_spec("litellm").origin).parent / "litellm_core_utils" / "tokenizers"
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    return lambda text: len(tiktoken.get_encoding("cl100k_base").encode(text))


async def test_first_request_with_all_tools_and_skills_stays_within_limit(connect, replies, tokens):
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    sent = await client.ask("chat.send", sessionKey=key, message="What can you do?")
    await client.end(sent["runId"])
    body = replies.requests[0].body
    names = {tool["function"]["name"] for tool in body["tools"]}
    assert {"notebook_outline", "notebook_edit_cell", "exec", "more_tools"} <= names
    assert "profile-table" in json.dumps(body["messages"])
    text = "".join(json.dumps(body[name], ensure_ascii=False) for name in ("tools", "messages"))
    assert tokens(text) <= MAX_TOKENS
