import json
from pathlib import Path

import httpx
import pytest

from onyx_jupyter.testing.demo_script import MARKDOWN, replies_from_file
from onyx_jupyter.testing.script import Call, Cut, Hang, Hold, HttpError, Raw, Reply, Say, Tokens
from onyx_jupyter.testing.scripted_server import ScriptedServer


def ask(text: str = "Hello", stream: bool = True) -> dict[str, object]:
    return {
        "model": "m",
        "messages": [{"role": "user", "content": text}],
        "stream": stream,
        "stream_options": {"include_usage": True},
    }


async def lines(server: ScriptedServer, text: str = "Hello") -> list[str]:
    async with httpx.AsyncClient() as client:
        answer = await client.post(f"{server.base_url}/chat/completions", json=ask(text))
    return [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")]


async def test_text_streams_then_finish_reason_usage_and_end() -> None:
    with ScriptedServer([[Say("Hello", chunk_chars=2), Tokens(9, 3, cached_tokens=4)]]) as server:
        *chunks, end = await lines(server)
    frames = [json.loads(chunk) for chunk in chunks]
    assert [frame["choices"][0]["delta"].get("content") for frame in frames[:3]] == ["He", "ll", "o"]
    assert frames[3]["choices"][0]["finish_reason"] == "stop"
    assert frames[4]["usage"]["prompt_tokens_details"] == {"cached_tokens": 4}
    assert end == "[DONE]"
    assert server.requests[0].last_user_text == "Hello"


async def test_tool_call_streams_name_then_argument_fragments() -> None:
    with ScriptedServer([[Call("exec", {"command": "ls"}, chunk_chars=5)]]) as server:
        frames = [json.loads(line) for line in (await lines(server))[:-1]]
    deltas = [f["choices"][0]["delta"]["tool_calls"][0] for f in frames if f["choices"] and f["choices"][0]["delta"]]
    assert deltas[0]["function"] == {"name": "exec", "arguments": ""}
    assert len(deltas) > 3
    assert "".join(delta["function"]["arguments"] for delta in deltas) == '{"command": "ls"}'


@pytest.mark.parametrize("reply", [[Cut()], [Say("Half"), Cut()]], ids=["before", "in the middle"])
async def test_cut_breaks_connection(reply: Reply) -> None:
    with ScriptedServer([reply]) as server, pytest.raises(httpx.TransportError):
        await lines(server)


async def test_wrong_key_is_rejected_without_using_up_script() -> None:
    with ScriptedServer(["Hello"], api_key="right") as server:
        async with httpx.AsyncClient() as client:
            url = f"{server.base_url}/chat/completions"
            refused = await client.post(url, json=ask(), headers={"authorization": "Bearer wrong"})
            answer = await client.post(url, json=ask(stream=False), headers={"authorization": "Bearer right"})
    assert refused.status_code == 401
    assert answer.json()["choices"][0]["message"]["content"] == "Hello"


async def test_http_error_has_code_and_headers() -> None:
    with ScriptedServer([[HttpError(429, "Slow down.", "rate", {"retry-after": "7"})]]) as server:
        async with httpx.AsyncClient() as client:
            answer = await client.post(f"{server.base_url}/chat/completions", json=ask())
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
    assert answer.json()["error"]["code"] == "rate"


async def test_client_disconnect_is_noticed() -> None:
    with ScriptedServer([[Say("Half"), Hang()], "Whole"]) as server:
        async with httpx.AsyncClient() as client:
            async with client.stream("POST", f"{server.base_url}/chat/completions", json=ask()) as answer:
                assert await anext(answer.aiter_bytes())
            assert await server.requests[0].client_left(5)
            await client.post(f"{server.base_url}/chat/completions", json=ask())
        assert await server.requests[1].ended(5)
        assert not await server.requests[1].client_left(0)


async def test_held_answer_continues_when_released() -> None:
    hold = Hold()
    with ScriptedServer([["One", hold, Raw(b"data: {broken\n\n"), "Two"]]) as server:
        url = f"{server.base_url}/chat/completions"
        async with httpx.AsyncClient() as client, client.stream("POST", url, json=ask()) as answer:
            parts = answer.aiter_text()
            assert "One" in await anext(parts)
            hold.released.set()
            rest = "".join([part async for part in parts])
    assert "{broken" in rest
    assert "Two" in rest


async def test_requests_beyond_script_are_visible_http_errors() -> None:
    with ScriptedServer([]) as server:
        async with httpx.AsyncClient() as client:
            answer = await client.post(f"{server.base_url}/chat/completions", json=ask())
    assert answer.status_code == 500
    assert server.failures


async def test_models_are_listed_and_other_paths_are_404() -> None:
    with ScriptedServer(models=("one", "two")) as server:
        async with httpx.AsyncClient() as client:
            models = (await client.get(f"{server.base_url}/models")).json()["data"]
            missing = await client.get(f"{server.base_url}/files")
    assert [model["id"] for model in models] == ["one", "two"]
    assert missing.status_code == 404


async def test_demo_script_answers_by_words_of_question() -> None:
    with ScriptedServer() as server:
        said = [json.loads(line) for line in (await lines(server, "Some markdown please"))[:-1]]
        ran = await lines(server, "Please run `ls -l`")
    text = "".join(f["choices"][0]["delta"].get("content") or "" for f in said if f["choices"])
    assert text == MARKDOWN
    assert '"name": "exec"' in "".join(ran)


async def test_script_file_gives_one_turn_per_tool_round(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    rule = {"match": "list", "turns": [[{"call": {"name": "exec", "arguments": {"command": "ls"}}}], ["Done."]]}
    path.write_text(json.dumps([rule]))
    choose = replies_from_file(path)
    with ScriptedServer(choose) as server:
        first = "".join(await lines(server, "list files"))
        body = ask("list files")
        messages = [
            {"role": "user", "content": "list files"},
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "tool", "content": "a.txt"},
        ]
        async with httpx.AsyncClient() as client:
            second = await client.post(f"{server.base_url}/chat/completions", json={**body, "messages": messages})
    assert "exec" in first
    assert "Done." in second.text
    assert "exec" not in second.text
