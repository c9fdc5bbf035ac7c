"""One click on whatever an answer below a cell shows, in a trusted notebook: no command of JupyterLab runs."""

from collections.abc import Sequence

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.rendering.corpus import Payload, payloads
from tests.e2e.rendering.surfaces import Output, card_output, plain_outputs, write_trusted

COMMANDS = [payload for payload in payloads() if payload.name.startswith("command-")]
# The innermost elements: what a person hits.
LEAVES = ":not(:has(*))"
# Long enough for a cell to have run: a kernel is there before the first click.
ACT_MS = 4_000


def cards(some: Sequence[Payload]) -> list[Output]:
    return [card_output(payload) for payload in some]


def plain(some: Sequence[Payload]) -> list[Output]:
    return [output for payload in some for output in plain_outputs(payload)]


@pytest.mark.parametrize("outputs", [cards, plain], ids=["cards", "plain"])
def test_clicking_an_answer_runs_nothing(outputs, tabs: Tabs, lab: LabServer, name: str) -> None:
    assert COMMANDS
    proof = lab.files / f"{name}.txt"
    write_trusted(lab, f"{name}.ipynb", outputs(COMMANDS), source=f"open({proof.name!r}, 'w').write('it ran')")
    _, notebook = tabs.open(lab, f"{name}.ipynb", name)
    notebook.wait(cells=1)
    notebook.wait_for_kernel()
    shown = notebook.cells.first.locator(".jp-OutputArea-output")
    expect(shown).to_have_count(len(outputs(COMMANDS)))
    expect(shown.get_by_text("Continue").first).to_be_attached()
    clicked = 0
    for output in shown.all():
        for leaf in output.locator(LEAVES).all():
            if leaf.is_visible() and leaf.evaluate("leaf => !leaf.closest('a[href^=http]')"):
                leaf.click(timeout=ACT_MS)
                clicked += 1
    assert clicked >= len(COMMANDS)
    notebook.page.wait_for_timeout(ACT_MS)
    expect(notebook.page.locator(".jp-Dialog")).to_have_count(0)
    notebook.wait(cells=1)
    assert not proof.exists()
