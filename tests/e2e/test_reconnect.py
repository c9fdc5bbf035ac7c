"""The server goes away under an open page and comes back: what was typed meanwhile goes out once."""

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.stage import Stage, tool_results


def test_offline_message_waits_and_is_sent_once(tabs: Tabs, mortal_lab: LabServer, stage: Stage, name: str) -> None:
    mortal_lab.notebook(f"{name}.ipynb", "'open'")
    sidebar, notebook = tabs.open(mortal_lab, f"{name}.ipynb", name)
    notebook.wait(cells=1)
    # JupyterLab itself says so too, in a dialog that takes the keys: hence the button below.
    dismiss = sidebar.page.locator(".jp-Dialog-footer button").last
    sidebar.page.add_locator_handler(dismiss, lambda button: button.click())
    stage.play("Before.", "After.")
    sidebar.ask("First question")
    expect(sidebar.answers).to_have_text(["Before."])
    sidebar.wait_for_end()

    mortal_lab.kill()
    expect(sidebar.offline).to_contain_text("Offline")
    sidebar.input.fill("Second question")
    sidebar.hook("send").click()
    expect(sidebar.said.last).to_have_attribute("data-delivery", "waiting")
    expect(sidebar.said.last).to_contain_text("Will be sent when the connection is back")
    assert len(stage.asked) == 1

    mortal_lab.start()
    expect(sidebar.answers).to_have_text(["Before.", "After."])
    expect(sidebar.offline).to_have_count(0)
    expect(sidebar.said.last).to_have_attribute("data-delivery", "sent")
    sidebar.wait_for_end()
    assert [request.last_user_text.count("Second question") for request in stage.asked] == [0, 1]

    before = sidebar.transcript()
    assert [line.split()[0] for line in before] == ["user-message", "run", "answer"] * 2
    sidebar.page.reload()
    sidebar.show()
    expect(sidebar.answers).to_have_text(["Before.", "After."])
    assert sidebar.transcript() == before
    assert len(stage.asked) == 2


def test_pending_cell_runs_in_new_kernel_after_server_kill(
    tabs: Tabs, mortal_lab: LabServer, stage: Stage, name: str
) -> None:
    mortal_lab.notebook(f"{name}.ipynb", "print(20 + 1)")
    sidebar, notebook = tabs.open(mortal_lab, f"{name}.ipynb", name)
    notebook.wait(cells=1)
    notebook.wait_for_kernel()
    dismiss = sidebar.page.locator(".jp-Dialog-footer button").last
    sidebar.page.add_locator_handler(dismiss, lambda button: button.click())
    stage.play([Call("notebook_run_all", {"path": f"{name}.ipynb"})], "It ran.")
    sidebar.ask("Run it")
    expect(sidebar.approvals).to_have_count(1)

    mortal_lab.kill()
    expect(sidebar.offline).to_be_visible()
    # So long that the tab has given up reaching its kernel for a while: it asks for it ever more seldom.
    sidebar.page.wait_for_timeout(9_000)
    mortal_lab.start()
    expect(sidebar.offline).to_have_count(0)
    # The card of before the restart answers nothing: the page has to have the one of now.
    tabs.wait_for_reply(sidebar.page, "approvals.list")
    sidebar.hook("approve-once").click()
    expect(sidebar.answers.last).to_contain_text("It ran.")
    sidebar.wait_for_end()
    (result,) = tool_results(stage.asked[1])
    assert "21" in result, result
