from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.messages import Message, ToolCall
from onyx_jupyter.providers.local_context import estimate, fit

CALL = ToolCall("c1", "exec", {"command": "ls"})


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = []
    for number in range(draw(st.integers(1, 6))):
        messages.append(Message("user", draw(st.text(max_size=300))))
        if draw(st.booleans()):
            call = ToolCall(f"c{number}", "exec", {"command": "ls"})
            messages += [Message("assistant", "", (call,)), Message("tool", draw(st.text(max_size=900)), (), call.id)]
        messages.append(Message("assistant", draw(st.text(max_size=300))))
    return [*messages, Message("user", draw(st.text(max_size=300)), context=draw(st.text(max_size=5000)))]


@given(conversations(), st.integers(200, 1500))
def test_newest_part_is_kept_without_separating_call_and_result(
    conversation: list[Message], budget_tokens: int
) -> None:
    kept = fit(conversation, budget_tokens)
    assert kept[-1].role == "user"
    assert [m.role for m in kept] == [m.role for m in conversation[-len(kept) :]]
    calls = {call.id for message in kept for call in message.tool_calls}
    results = {message.tool_call_id for message in kept if message.role == "tool"}
    assert calls == results
    assert estimate(kept) <= budget_tokens


def test_conversation_that_fits_is_unchanged() -> None:
    conversation = [Message("user", "a"), Message("assistant", "b"), Message("user", "c")]
    assert fit(conversation, 1000) == conversation


def test_too_long_last_turn_is_shortened_in_the_middle() -> None:
    conversation = [Message("user", "old"), Message("user", "start " + "x" * 9000 + " end")]
    (kept,) = fit(conversation, 300)
    assert kept.content.startswith("start ")
    assert kept.content.endswith(" end")
    assert "shortened" in kept.content


def test_attached_context_is_shortened_before_the_question() -> None:
    asked = Message("user", "Why is this wrong?", context="begin " + "x" * 9000 + " end")
    (kept,) = fit([Message("user", "old"), asked], 300)
    assert kept.content == "Why is this wrong?"
    assert kept.context.startswith("begin ")
    assert kept.context.endswith(" end")
    assert estimate([kept]) <= 300
