"""What is meant for the model alone, and silence: nobody gets to see them, live or later."""

import pytest

from onyx_jupyter.agent.processors.internal_tags import InternalTagFilter
from onyx_jupyter.testing.script import Call, Say
from tests.runs.house import House


def visible(text: str) -> str:
    text_filter = InternalTagFilter()
    return text_filter.feed(text) + text_filter.finish()


@pytest.mark.parametrize(
    ("answer", "seen"),
    [
        ("before <internal>notes</internal>after", "before after"),
        ("<internal>notes</internal>\n\nHello", "Hello"),
        ("<INTERNAL>notes</Internal>Hello", "Hello"),
        ('<internal kind="plan">notes</internal >Hello', "Hello"),
        ("<internal/>Hello", "Hello"),
        ("a<internal>1<internal>2</internal>3</internal>b", "ab"),
        ("a</internal>b", "ab"),
        ("a <internal>never closed\n\nmore", "a "),
        ("a <internal", "a "),
        ("a <int", "a <int"),
        ("1 < 2 and <i>x</i> <internals>", "1 < 2 and <i>x</i> <internals>"),
        ("The `<internal>` tag and `</internal>` hide text.", "The `<internal>` tag and `</internal>` hide text."),
        ("Write `<internal>a</internal>` so.", "Write `` so."),
        ("Run `x`<internal>notes</internal>.", "Run `x`."),
        ("Run `x`<internal>`notes`</internal>.", "Run `x`."),
        ("<internal>say `</internal>` at the end</internal>ok", "ok"),
        ("```html\n<internal>notes</internal>\n```", "```html\n\n```"),
    ],
)
def test_tagged_text_is_hidden_but_tag_in_code_span_is_not(answer, seen):
    assert visible(answer) == seen


@pytest.mark.parametrize("chunk_chars", [1, 3, None])
async def test_internal_text_is_absent_from_deltas_final_transcript_and_later_requests(tmp_path, chunk_chars):
    answer = "Looking.<internal>the secret plan</internal> Now."
    replies = [[Say(answer, chunk_chars), Call("touch", {"word": "x"})], [Say(answer, chunk_chars)], "Again"]
    house = House(tmp_path, replies)
    key = await house.session()
    run_id = await house.send(key)
    await house.approve()
    name, data = await house.end(run_id)
    assert (name, data["text"]) == ("chat.final", "Looking. Now.")
    assert "".join(delta["text"] for delta in house.of("chat.delta")) == "Looking. Now." * 2
    assert house.of("exec.approval_request")[0]["details"]["why"] == "Looking. Now."
    await house.run(key)
    assert "plan" not in house.file(key).read_text()
    assert "plan" not in str(house.events)
    assert "plan" not in str([request.messages for request in house.model.requests])


@pytest.mark.parametrize("answer", ["NO_REPLY", " \nNO_REPLY\n", "<internal>nothing new</internal>NO_REPLY"])
@pytest.mark.parametrize("chunk_chars", [1, None])
async def test_silent_token_ends_turn_without_message(tmp_path, answer, chunk_chars):
    house = House(tmp_path, [[Say(answer, chunk_chars)], "Hello"])
    key = await house.session()
    name, data = await house.run(key)
    assert (name, data["text"]) == ("chat.final", "")
    assert house.of("chat.delta") == []
    assert house.ends_on_disk(key) == ["final"]
    assert "NO_REPLY" not in house.file(key).read_text()
    assert (await house.run(key, "And now?"))[1]["text"] == "Hello"
    assert [message.content for message in house.model.requests[1].messages] == ["Please", "And now?"]


@pytest.mark.parametrize(
    "answer", ["NO_REPLY is a token", "NO, never", "No", "  N", "The token is NO_REPLY", "NO_REPLY."]
)
@pytest.mark.parametrize("chunk_chars", [1, None])
async def test_answer_with_silent_token_as_prefix_is_shown_in_full(tmp_path, answer, chunk_chars):
    house = House(tmp_path, [[Say(answer, chunk_chars)]])
    key = await house.session()
    assert (await house.run(key))[1]["text"] == answer
    assert "".join(delta["text"] for delta in house.of("chat.delta")) == answer


async def test_silent_token_with_tool_call_hides_text_and_runs_call(tmp_path):
    house = House(tmp_path, [["NO_REPLY", Call("peek", {"word": "a"})], "Done"])
    key = await house.session()
    assert (await house.run(key))[1]["text"] == "Done"
    assert house.peek.done == ["a"]
    assert [delta["text"] for delta in house.of("chat.delta")] == ["Done"]


async def test_answer_of_internal_text_only_is_not_an_error(tmp_path):
    house = House(tmp_path, ["<internal>nothing to say</internal>"])
    key = await house.session()
    name, data = await house.run(key)
    assert (name, data["text"]) == ("chat.final", "")
