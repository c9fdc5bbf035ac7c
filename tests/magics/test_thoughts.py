"""A turn of a model that thinks, below a cell: that it thinks is shown, and what it thinks stands in no output."""

import json

from onyx_jupyter.magics.turn_state import TurnState
from onyx_jupyter.magics.turn_view import TurnView, markdown


class FrontEnd:
    def __init__(self):
        self.shown = []

    def publish(self, data, metadata=None, **more):
        self.shown.append(data)


def thought(text, **more):
    return "chat.thought", {"runId": "r", "text": text, **more}


def said(text):
    return "chat.delta", {"runId": "r", "text": text}


def applied(*events):
    state, front = TurnState("r"), FrontEnd()
    view = TurnView(front, state, "s")
    for event, data in events:
        state.apply(event, data)
        view.show(now=True)
    return state, json.dumps(front.shown)


def test_no_bundle_holds_a_thought_and_the_card_says_that_the_model_thinks():
    state, shown = applied(thought("Walrus "), thought("again."), thought("", seconds=2.0), said("It is 4."))
    assert "Thinking" in shown
    assert "Walrus" not in shown
    assert markdown(state) == "It is 4."
    state.apply("chat.final", {"runId": "r", "text": "It is 4."})
    assert state.answer == "It is 4."


def test_the_card_says_so_after_a_step_too_and_is_drawn_once_for_it():
    state, _ = applied(("tool.started", {"runId": "r", "callId": "c", "tool": "read", "input": {"path": "a"}}))
    assert state.apply(*thought("Good.")) is True
    assert state.apply(*thought(" Now.")) is False
    assert markdown(state).endswith("*Thinking…*")
    assert state.apply(*thought("", seconds=1.0)) is True
    assert "Thinking" not in markdown(state)


def test_words_that_were_thought_leave_the_card():
    state, _ = applied(said("One"), said("\n\nWalrus."), thought("\n\nWalrus.", wasSaid=True), said("\n\nTwo"))
    assert markdown(state) == "One\n\nTwo"
    state, _ = applied(said("Walrus."), thought("Walrus.", wasSaid=True))
    assert markdown(state) == "*Thinking…*"
