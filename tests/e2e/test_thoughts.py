"""A model that thinks before it answers: a folded line in the sidebar, and no thought anywhere else."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from onyx_jupyter.testing.script import Call, Hang, Hold, Say, Think
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar, overflowing
from tests.e2e.stage import Stage, saw_disconnect

OpenLab = Callable[..., tuple[Sidebar, Notebook]]
THOUGHT = "I add <b>two</b> and two.\n\n**Four**, then."
ANSWER = "It is 4."
LONG = re.compile(r"Thought for \d+ s")


def fold(sidebar: Sidebar) -> Locator:
    return sidebar.hook("thought").last.get_by_role("button")


def text(sidebar: Sidebar) -> Locator:
    return sidebar.hook("thought-text")


def test_thoughts_stream_collapse_with_duration_and_survive_reload(open_lab: OpenLab, stage: Stage) -> None:
    held = Hold()
    sidebar, _ = open_lab()
    stage.play([Think(THOUGHT, 5), held, Say(ANSWER, 3)], "Again.")
    sidebar.ask("2 + 2?")
    expect(fold(sidebar)).to_have_text("Thinking…")
    expect(fold(sidebar)).to_have_attribute("aria-expanded", "false")
    expect(text(sidebar)).to_have_count(0)
    fold(sidebar).click()
    expect(text(sidebar)).to_have_text(THOUGHT, use_inner_text=True)
    expect(text(sidebar).locator("b, strong")).to_have_count(0)
    expect(sidebar.answers).to_have_count(0)
    held.released.set()
    expect(sidebar.answers.last).to_have_text(ANSWER)
    sidebar.wait_for_end()
    expect(fold(sidebar)).to_have_text(LONG)
    expect(fold(sidebar)).to_have_attribute("aria-expanded", "true")  # as it was left
    words = fold(sidebar).inner_text()
    sidebar.page.reload()
    sidebar.show()
    expect(fold(sidebar)).to_have_text(words)
    expect(text(sidebar)).to_have_count(0)
    sidebar.ask("And now?")
    expect(sidebar.answers.last).to_have_text("Again.")
    assert "I add" not in json.dumps(stage.asked[1].body)


def test_thoughts_line_is_toggled_by_keyboard(open_lab: OpenLab, stage: Stage) -> None:
    sidebar, _ = open_lab()
    stage.play([Think(THOUGHT), ANSWER])
    sidebar.ask("2 + 2?")
    sidebar.wait_for_end()
    for key, is_open in (("Enter", "true"), ("Space", "false"), ("Space", "true"), ("Enter", "false")):
        fold(sidebar).press(key)
        expect(fold(sidebar)).to_have_attribute("aria-expanded", is_open)
        expect(text(sidebar)).to_have_count(1 if is_open == "true" else 0)


@pytest.mark.parametrize("head", ["<think>\n", ""], ids=["tags", "half a tag"])
def test_inline_thoughts_are_collapsed_and_not_in_answer(open_lab: OpenLab, stage: Stage, head: str) -> None:
    sidebar, _ = open_lab()
    stage.play([Say(f"{head}{THOUGHT}\n</think>\n\n{ANSWER}", 3)])
    sidebar.ask("2 + 2?")
    sidebar.wait_for_end()
    expect(sidebar.answers).to_have_text([ANSWER])
    expect(fold(sidebar)).to_have_text(LONG)
    fold(sidebar).click()
    expect(text(sidebar)).to_have_text(THOUGHT, use_inner_text=True)


def test_stop_during_thought_keeps_it_and_ends_provider_request(open_lab: OpenLab, stage: Stage) -> None:
    sidebar, _ = open_lab()
    stage.play([Think(THOUGHT), Hang()], ANSWER)
    sidebar.ask("2 + 2?")
    expect(fold(sidebar)).to_have_text("Thinking…")
    sidebar.hook("stop").click()
    sidebar.wait_for_end("aborted")
    assert saw_disconnect(stage.asked[0], 5)
    expect(fold(sidebar)).to_have_text(LONG)
    fold(sidebar).click()
    expect(text(sidebar)).to_have_text(THOUGHT, use_inner_text=True)
    expect(sidebar.answers).to_have_count(0)
    sidebar.ask("And now?")
    expect(sidebar.answers).to_have_text([ANSWER])


def test_each_step_has_its_thought_and_long_ones_fit_sidebar(open_lab: OpenLab, lab: LabServer, stage: Stage) -> None:
    lab.files.joinpath("a.txt").write_text("an apple", "utf-8")
    sidebar, _ = open_lab()
    stage.play(
        [Think("I look."), Call("read", {"path": "a.txt"})], [Think("w" * 2_000 + " " + "word " * 2_000), ANSWER]
    )
    sidebar.ask("What is in a.txt?")
    sidebar.wait_for_end()
    expect(sidebar.hook("thought")).to_have_count(2)
    fold(sidebar).click()
    expect(text(sidebar)).to_contain_text("word word")
    assert overflowing(sidebar) == []


def test_asking_cell_shows_thoughts_while_waiting_and_stores_none(
    open_lab: OpenLab, lab: LabServer, stage: Stage, name: str
) -> None:
    held = Hold()
    sidebar, notebook = open_lab("%load_ext onyx_jupyter", "%onyx What is 2 + 2?")
    stage.play([Think(THOUGHT), held, ANSWER])
    notebook.wait(cells=2)
    notebook.run(0)
    notebook.wait_for_kernel()
    notebook.cells.nth(1).click(position={"x": 200, "y": 12})
    sidebar.page.keyboard.press("Control+Enter")
    card = notebook.cells.nth(1).locator("[data-onyx=cell-turn]")
    expect(card.locator("[data-onyx=thought]")).to_have_text("Thinking…")
    held.released.set()
    expect(card).to_contain_text(ANSWER)
    expect(card).to_have_attribute("data-status", "final")
    expect(card.locator("[data-onyx=thought]")).to_have_count(0)
    notebook.save()
    saved = next(path for path in lab.files.rglob("*.ipynb") if path.stem == name)
    assert ANSWER in saved.read_text("utf-8")
    assert "I add" not in saved.read_text("utf-8")
