import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.messages import ToolCall
from onyx_jupyter.providers.json_action_stream import JsonActionStream
from onyx_jupyter.providers.json_actions import REPLY, action_text

# No lone surrogates: they cannot stand in a file or on a wire.
TEXT = st.text(st.characters(exclude_categories=("Cs",)))


def read(pieces: list[str]) -> tuple[list[str], tuple[ToolCall, ...]]:
    stream = JsonActionStream()
    texts = [stream.feed(piece) for piece in pieces]
    rest, calls = stream.finish()
    return [*texts, rest], calls


@st.composite
def cut(draw: st.DrawFn, source: st.SearchStrategy[str]) -> list[str]:
    text = draw(source)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def reply(text: str, *, ascii_only: bool) -> str:
    return json.dumps({"name": REPLY, "arguments": {"text": text}}, ensure_ascii=ascii_only)


@given(st.data(), TEXT, st.booleans())
def test_reply_is_parsed_independently_of_chunking(data: st.DataObject, text: str, ascii_only: bool) -> None:
    pieces = data.draw(cut(st.just(reply(text, ascii_only=ascii_only))))
    texts, calls = read(pieces)
    assert "".join(texts) == text
    assert calls == ()


@given(st.data(), st.dictionaries(TEXT, st.one_of(TEXT, st.integers(), st.none(), st.lists(TEXT))))
def test_call_is_parsed_independently_of_chunking(data: st.DataObject, arguments: dict[str, Any]) -> None:
    pieces = data.draw(cut(st.just(action_text("exec", arguments))))
    texts, (call,) = read(pieces)
    assert "".join(texts) == ""
    assert (call.name, call.arguments, call.malformed) == ("exec", arguments, None)
    assert call.id


@given(cut(st.text()))
def test_any_answer_is_parsed(pieces: list[str]) -> None:
    texts, calls = read(pieces)
    assert all(isinstance(text, str) for text in texts)
    assert all(call.name for call in calls)


def test_reply_text_streams() -> None:
    stream = JsonActionStream()
    assert stream.feed('{"name": "reply", "argu') == ""
    assert stream.feed('ments": {"text": "Good mor') == "Good mor"
    assert stream.feed("ning\\") == "ning"
    assert stream.feed('n\\ud83d\\ude00"}} and more') == "\n\N{GRINNING FACE}"
    assert stream.finish() == ("", ())


def test_invalid_json_escapes_in_text_are_accepted() -> None:
    texts, calls = read(['{"name": "reply", "arguments": {"text": "a\nb\\', "q\\ud83d, \\u12", 'xy, \\udc00"}}'])
    assert ("".join(texts), calls) == (
        "a\nbq\N{REPLACEMENT CHARACTER}, \N{REPLACEMENT CHARACTER}, \N{REPLACEMENT CHARACTER}",
        (),
    )


def test_plain_text_is_taken_as_reply() -> None:
    assert read(["Hello", " there"]) == (["Hello", " there", ""], ())


def test_fenced_action_is_parsed_without_fence() -> None:
    texts, calls = read(["```js", "on\n", reply("Hi", ascii_only=True), "\n```"])
    assert ("".join(texts), calls) == ("Hi", ())


def test_arguments_before_name_are_accepted() -> None:
    texts, calls = read(['{"arguments": {"text": "Hi"}, "name": "reply"}'])
    assert ("".join(texts), calls) == ("Hi", ())


def test_truncated_call_is_malformed_and_keeps_text() -> None:
    _, (call,) = read(['{"name": "exec", "arguments": {"command": "ls'])
    assert (call.name, call.arguments, call.malformed) == ("exec", {}, '{"command": "ls')


def test_truncated_reply_keeps_received_text() -> None:
    texts, calls = read(['{"name": "reply", "arguments": {"text": "Half a'])
    assert ("".join(texts), calls) == ("Half a", ())


def test_object_that_is_no_action_is_shown_unchanged() -> None:
    assert read(['{"answer": 42}']) == (["", '{"answer": 42}'], ())
