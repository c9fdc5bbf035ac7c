"""Fields that go back with results: found again by the calls of their reply, the same message as long as it is."""

from __future__ import annotations

from onyx_jupyter.agent.carried import CarriedInRun
from onyx_jupyter.messages import CarriedFields, Message, ToolCall

CALLS = (ToolCall("a", "read", {}), ToolCall("b", "read", {}))
FIELDS = {"message": {"reasoning_content": "hidden"}}


def test_fields_come_back_on_the_reply_that_made_these_calls_and_on_no_other() -> None:
    carried = CarriedInRun()
    carried.keep(CALLS, "x/model", FIELDS)
    user, reply, other = Message("user", "Go"), Message("assistant", "", CALLS), Message("assistant", "", CALLS[:1])
    given = carried.given_back([user, reply, other])
    assert [message.carried for message in given] == [None, CarriedFields("x/model", FIELDS), None]
    assert given[0] is user
    assert reply.carried is None


def test_an_unchanged_reply_is_the_same_message_again_so_that_what_is_known_of_it_stays() -> None:
    carried = CarriedInRun()
    carried.keep(CALLS, "x/model", FIELDS)
    reply = Message("assistant", "", CALLS)
    (first,), (second,) = carried.given_back([reply]), carried.given_back([reply])
    assert first is second
    (changed,) = carried.given_back([Message("assistant", "Shortened", CALLS)])
    assert (changed.content, changed.carried) == ("Shortened", CarriedFields("x/model", FIELDS))


def test_a_reply_without_calls_or_fields_keeps_nothing() -> None:
    carried = CarriedInRun()
    carried.keep((), "x/model", FIELDS)
    carried.keep(CALLS, "x/model", None)
    assert carried.given_back([Message("assistant", "", CALLS)])[0].carried is None


def test_hidden_content_is_in_no_repr() -> None:
    message = Message("assistant", "", CALLS, carried=CarriedFields("x/model", FIELDS))
    assert "hidden" not in repr(message)
    assert "hidden" not in repr(message.carried)
