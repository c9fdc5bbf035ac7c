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


def test_output_contains_no_thoughts_and_card_says_model_is_thinking():
    state, shown = applied(thought("Walrus "), thought("again."), thought("", seconds=2.0), said("It is 4."))
    assert "Thinking" in shown
    assert "Walrus" not in shown
    assert markdown(state) == "It is 4."
    state.apply("chat.final", {"runId": "r", "text": "It is 4."})
    assert state.answer == "It is 4."


def test_card_shows_thinking_after_a_step_and_is_rendered_once():
    state, _ = applied(("tool.started", {"runId": "r", "callId": "c", "tool": "read", "input": {"path": "a"}}))
    assert state.apply(*thought("Good.")) is True
    assert state.apply(*thought(" Now.")) is False
    assert markdown(state).endswith("*Thinking…*")
    assert state.apply(*thought("", seconds=1.0)) is True
    assert "Thinking" not in markdown(state)


def test_text_reclassified_as_thought_is_removed_from_card():
    state, _ = applied(said("One"), said("\n\nWalrus."), thought("\n\nWalrus.", wasSaid=True), said("\n\nTwo"))
    assert markdown(state) == "One\n\nTwo"
    state, _ = applied(said("Walrus."), thought("Walrus.", wasSaid=True))
    assert markdown(state) == "*Thinking…*"
