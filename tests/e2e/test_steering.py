"""What a person says while the assistant works: it joins after the step that runs, or waits for the answer's end."""

from collections.abc import Callable
from threading import Event

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call, Hold, Say
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.stage import Stage, tool_results


def waits_for(path: str) -> str:
    """A command that goes on until the file is there."""
    return f"until [ -e {path} ]; do sleep 0.05; done; echo found"


def test_message_during_command_joins_after_it_in_both_tabs_and_skips_rest(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], tabs: Tabs, lab: LabServer, stage: Stage, name: str
) -> None:
    sidebar, _ = open_lab()
    other, _ = tabs.open(lab, f"{name}.ipynb", f"{name}-2")
    waiting, never = Call("exec", {"command": waits_for(name)}), Call("exec", {"command": f"touch {name}-never"})
    stage.play([waiting, never], "A table it is.")
    sidebar.ask("Plot it")
    sidebar.hook("approve-once").click()
    expect(sidebar.card("exec").first).to_have_attribute("data-status", "running")

    sidebar.input.fill("Rather a table")
    expect(sidebar.hook("send")).to_have_attribute("title", "Send: considered after the current step (Enter)")
    sidebar.input.press("Enter")
    expect(sidebar.hook("waits")).to_have_text("Joins after the current step")
    # The other tab has the session's name only once it is opened there.
    other.page.reload()
    other.show()
    expect(other.hook("waits")).to_have_text("Joins after the current step")
    assert len(stage.asked) == 1

    lab.files.joinpath(name).touch()
    for tab in (sidebar, other):
        expect(tab.answers.last).to_have_text("A table it is.")
        tab.wait_for_end()
        expect(tab.hook("waits")).to_have_count(0)
    last = [message for message in stage.asked[1].body["messages"] if message["role"] == "user"][-1]
    assert "Rather a table" in str(last["content"])
    assert tool_results(stage.asked[1])[-1] == "Skipped: the user sent a new message."
    assert not lab.files.joinpath(f"{name}-never").exists()

    before = sidebar.transcript()
    assert before == [
        f"user-message You Plot it {name}.ipynb",
        "run final",
        "card exec ok",
        "card exec skipped",
        f"user-message You Rather a table {name}.ipynb",
        "answer A table it is.",
    ]
    expect(sidebar.cards.last).to_contain_text(f"touch {name}-never")
    sidebar.page.reload()
    sidebar.show()
    expect(sidebar.answers.last).to_have_text("A table it is.")
    assert sidebar.transcript() == before


def test_follow_up_message_waits_for_end_of_answer(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], stage: Stage
) -> None:
    sidebar, _ = open_lab()
    half_way = Hold(released=Event())
    stage.play([Say("First "), half_way, Say("answer.")], "Second answer.", "Third answer.")
    sidebar.ask("One")
    expect(sidebar.answers.last).to_contain_text("First")
    sidebar.input.fill("Two")
    sidebar.input.press("Alt+Enter")
    sidebar.input.fill("Three")
    sidebar.hook("send-after").click()
    expect(sidebar.hook("waits")).to_have_text(["Next, when the answer above is done"] * 2)
    half_way.released.set()
    expect(sidebar.answers).to_have_text(["First answer.", "Second answer.", "Third answer."])
    sidebar.wait_for_end()
    assert [line.split()[0] for line in sidebar.transcript()] == ["user-message", "run", "answer"] * 3
    assert len(stage.asked) == 3


def test_message_not_yet_joined_at_stop_goes_to_next_run(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], stage: Stage, name: str
) -> None:
    sidebar, _ = open_lab()
    stage.play([Call("exec", {"command": waits_for(name)})], "Both.")
    sidebar.ask("Plot it")
    sidebar.hook("approve-once").click()
    expect(sidebar.card("exec")).to_have_attribute("data-status", "running")
    sidebar.ask("Rather a table")
    expect(sidebar.hook("waits")).to_have_attribute("data-waits", "joins")
    sidebar.hook("stop").click()
    sidebar.wait_for_end("aborted")
    expect(sidebar.hook("waits")).to_have_text("Not read yet: attached to your next message")
    assert len(stage.asked) == 1
    sidebar.page.reload()
    sidebar.show()
    expect(sidebar.hook("waits")).to_have_attribute("data-waits", "left")

    sidebar.ask("Go on")
    expect(sidebar.answers.last).to_have_text("Both.")
    expect(sidebar.hook("waits")).to_have_count(0)
    heard = [str(message["content"]) for message in stage.asked[1].body["messages"] if message["role"] == "user"]
    assert ["Rather a table" in text for text in heard].count(True) == 1
    assert [line.split()[0] for line in sidebar.transcript()] == [
        *("user-message", "run", "card", "user-message", "user-message", "run", "answer"),
    ]
