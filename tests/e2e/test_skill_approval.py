"""A notebook that the agent wants to run as a skill: shown before anybody trusts it, and again when it has changed."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import overflowing
from tests.e2e.stage import Stage, tool_results
from tests.skills.notebooks import cell, write_notebook


@pytest.fixture
def skills(lab: LabServer) -> Iterator[Path]:
    """The project's skills; none is left for other tests."""
    folder = lab.files / ".onyx" / "skills"
    yield folder
    shutil.rmtree(folder.parent)


def test_new_skill_is_shown_and_trusted_and_changed_skill_shows_diff(
    tabs: Tabs, lab: LabServer, stage: Stage, skills: Path, name: str
) -> None:
    path = write_notebook(
        skills / "count-lines.ipynb",
        cell('from pathlib import Path\npath: Path = Path("none.csv")\ntimes: int = 1', "parameters"),
        cell("print(len(path.read_text().splitlines()) * times)", "result"),
    )
    lab.files.joinpath(f"{name}.csv").write_text("1\n2\n")
    lab.notebook(f"{name}.ipynb")
    sidebar, _ = tabs.open(lab, f"{name}.ipynb", name)
    run = Call("more_tools", {"tool": "skill_count_lines", "arguments": {"path": f"{name}.csv", "times": 3}})
    stage.play([run], "It is six.", [run], "It is seven.")

    sidebar.ask("Count")
    card = sidebar.hook("approval")
    expect(card.locator("[data-onyx=arguments]")).to_contain_text(f"{name}.csv")
    expect(card.locator("[data-onyx=approval-trust]")).to_contain_text("Allowing it trusts this version")
    expect(card.locator("[data-onyx=approval-source]").last).to_contain_text("print(len(path.read_text()")
    expect(sidebar.hook("approve-always")).to_have_count(0)
    assert overflowing(sidebar) == []
    sidebar.hook("approve-once").click()
    sidebar.wait_for_end()
    assert tool_results(stage.asked[-1])[-1].startswith("count-lines succeeded.\n6\n")

    path.write_text(path.read_text().replace("* times", "* times + 1"))
    sidebar.ask("Again")
    expect(card.locator("[data-onyx=diff]")).to_contain_text("* times + 1")
    sidebar.hook("approve-once").click()
    sidebar.wait_for_end()
    assert tool_results(stage.asked[-1])[-1].startswith("count-lines succeeded.\n7\n")
