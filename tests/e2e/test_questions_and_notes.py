"""What the assistant asks, and what it says beside its answers: questions, files over their cap, going in circles."""

from collections.abc import Callable

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.stage import Stage, tool_results

OpenLab = Callable[..., tuple[Sidebar, Notebook]]


def test_question_survives_reload_and_is_answered_by_choice(open_lab: OpenLab, stage: Stage) -> None:
    sidebar, _ = open_lab()
    asking = Call("ask_user", {"question": "Which month?", "choices": ["March", "April"]})
    stage.play([asking], "March it is.")
    sidebar.ask("Plot a month")
    question = sidebar.hook("question")
    expect(question).to_contain_text("Which month?")
    asked = question.get_attribute("data-question-id")
    sidebar.page.reload()
    sidebar.show()
    expect(question).to_have_attribute("data-question-id", asked or "")
    assert len(stage.asked) == 1
    sidebar.hook("choice").filter(has_text="March").click()
    expect(sidebar.answers.last).to_have_text("March it is.")
    expect(question).to_have_count(0)
    assert "March" in tool_results(stage.asked[1])[-1]
    expect(sidebar.card("ask_user")).to_contain_text("March")


def test_question_is_answered_in_free_text(open_lab: OpenLab, stage: Stage) -> None:
    sidebar, _ = open_lab()
    stage.play([Call("ask_user", {"question": "Which month?", "choices": ["March", "April"]})], "May, then.")
    sidebar.ask("Plot a month")
    sidebar.hook("answer").fill("rather May")
    sidebar.hook("answer").press("Enter")
    expect(sidebar.answers.last).to_have_text("May, then.")
    assert "rather May" in tool_results(stage.asked[1])[-1]
    expect(sidebar.card("ask_user")).to_have_attribute("data-status", "ok")


def test_file_over_cap_is_reported_and_stays_visible(open_lab: OpenLab, lab: LabServer, stage: Stage) -> None:
    memory = lab.home / "workspace/MEMORY.md"
    before = memory.read_text("utf-8")
    memory.write_text("- A thing to remember.\n" * 2_000, "utf-8")
    try:
        sidebar, _ = open_lab()
        stage.play("Here.")
        sidebar.ask("Say here")
        expect(sidebar.answers.last).to_have_text("Here.")
        note = sidebar.hook("note")
        expect(note).to_contain_text("MEMORY.md")
        sidebar.wait_for_end()
        words = note.inner_text()
        sidebar.page.reload()
        sidebar.show()
        expect(note).to_have_text(words, use_inner_text=True)
    finally:
        memory.write_text(before, "utf-8")


def test_looping_run_ends_with_reason_in_chat(open_lab: OpenLab, lab: LabServer, stage: Stage) -> None:
    lab.files.joinpath("same.txt").write_text("the same", "utf-8")
    sidebar, _ = open_lab()
    stage.play(*[[Call("read", {"path": "same.txt"})] for _ in range(6)])
    sidebar.ask("Read on and on")
    sidebar.wait_for_end()
    expect(sidebar.answers.last).to_contain_text("read")
    expect(sidebar.answers.last).to_contain_text("6 times")
    expect(sidebar.cards).to_have_count(6)
    assert len(stage.asked) == 6


def test_turn_without_text_shows_nothing(open_lab: OpenLab, stage: Stage) -> None:
    sidebar, _ = open_lab()
    stage.play("NO_REPLY", "Words.")
    sidebar.ask("Only note this")
    expect(sidebar.runs.last).to_have_attribute("data-status", "final")
    expect(sidebar.runs.last).not_to_be_visible()
    sidebar.ask("And now say something")
    expect(sidebar.answers).to_have_text(["Words."])
