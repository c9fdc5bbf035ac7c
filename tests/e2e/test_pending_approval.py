"""A question that waits for a person outlives the page, is one and the same in two tabs, and outlives the server."""

from collections.abc import Callable

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.stage import Stage, tool_results


def runs_of(lab: LabServer, name: str) -> list[str]:
    """What the command of this test has left behind: a line each time it ran."""
    path = lab.files / f"{name}.txt"
    return path.read_text("utf-8").splitlines() if path.exists() else []


def command(name: str) -> str:
    return f"echo ran >> {name}.txt"


def test_pending_approval_survives_reload_and_is_answered_in_one_of_two_tabs(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], tabs: Tabs, lab: LabServer, stage: Stage, name: str
) -> None:
    first, _ = open_lab()
    stage.play([Call("exec", {"command": command(name)})], "It ran.")
    first.ask("Run it")
    expect(first.approvals).to_have_count(1)
    approval_id = first.approvals.get_attribute("data-approval-id")

    first.page.reload()
    first.show()
    expect(first.approvals).to_have_attribute("data-approval-id", approval_id or "")

    second, _ = tabs.open(lab, f"{name}.ipynb", f"{name}-2")
    expect(second.approvals).to_have_attribute("data-approval-id", approval_id or "")
    expect(second.approvals).to_contain_text(command(name))
    assert runs_of(lab, name) == []

    second.hook("approve-once").click()
    for sidebar in (first, second):
        expect(sidebar.answers.last).to_contain_text("It ran.")
        expect(sidebar.approvals).to_have_count(0)
        expect(sidebar.card("exec")).to_have_attribute("data-status", "ok")
    assert runs_of(lab, name) == ["ran"]
    assert first.transcript() == second.transcript()


def test_pending_approval_survives_server_kill_and_runs_once(
    tabs: Tabs, mortal_lab: LabServer, stage: Stage, name: str
) -> None:
    mortal_lab.notebook(f"{name}.ipynb")
    sidebar, _ = tabs.open(mortal_lab, f"{name}.ipynb", name)
    stage.play(["I will run it.", Call("exec", {"command": command(name)})], "It ran.")
    sidebar.ask("Run it")
    expect(sidebar.approvals).to_have_count(1)
    approval_id = sidebar.approvals.get_attribute("data-approval-id")

    mortal_lab.kill()
    expect(sidebar.offline).to_be_visible()
    expect(sidebar.hook("approve-once")).to_be_disabled()
    mortal_lab.start()
    sidebar.page.goto(mortal_lab.url(f"lab/workspaces/{name}/tree/{name}.ipynb", reset=""))
    sidebar.show()

    expect(sidebar.approvals).to_have_attribute("data-approval-id", approval_id or "")
    expect(sidebar.approvals).to_contain_text(command(name))
    assert runs_of(mortal_lab, name) == []
    sidebar.hook("approve-once").click()
    expect(sidebar.answers.last).to_contain_text("It ran.")
    sidebar.wait_for_end()
    assert runs_of(mortal_lab, name) == ["ran"]
    assert len(stage.asked) == 2
    assert len(tool_results(stage.asked[1])) == 1
    expect(sidebar.said).to_have_count(1)
    expect(sidebar.answers).to_have_text(["I will run it.", "It ran."])
