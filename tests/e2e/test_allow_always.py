"""What is allowed for good runs unasked, also after a restart, until it is revoked; and what cannot be so says why."""

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Sidebar, overflowing
from tests.e2e.stage import Stage


def open_grants(sidebar: Sidebar) -> None:
    sidebar.hook("menu").click()
    sidebar.page.get_by_role("menuitem", name="Always allowed…").click()
    expect(sidebar.hook("grants-panel")).to_be_visible()


def test_always_applies_after_restart_until_revoked(tabs: Tabs, mortal_lab: LabServer, stage: Stage, name: str) -> None:
    mortal_lab.notebook(f"{name}.ipynb")
    sidebar, _ = tabs.open(mortal_lab, f"{name}.ipynb", name)
    made = [mortal_lab.files / f"{name}-{number}" for number in (1, 2)]
    command = Call("exec", {"command": f"mkdir {made[0].name}"})
    stage.play([command], "Done.", [command], "Done again.", [command], "And again.", [command], "Not this time.")

    open_grants(sidebar)
    expect(sidebar.hook("grants-empty")).to_contain_text("Always")
    sidebar.page.keyboard.press("Escape")
    expect(sidebar.input).to_be_focused()

    sidebar.ask("Make it")
    expect(sidebar.hook("always-scope")).to_contain_text("the same in every session, until you revoke it")
    expect(sidebar.hook("session-scope")).to_contain_text(f"mkdir {made[0].name}, exactly so, in {mortal_lab.files}")
    sidebar.hook("approve-always").click()
    sidebar.wait_for_end()
    made[0].rmdir()
    sidebar.ask("Once more")
    expect(sidebar.answers.last).to_have_text("Done again.")
    made[0].rmdir()

    mortal_lab.kill()
    expect(sidebar.offline).to_be_visible()
    mortal_lab.start()
    sidebar.page.goto(mortal_lab.url(f"lab/workspaces/{name}/tree/{name}.ipynb", reset=""))
    sidebar.show()
    sidebar.hook("new-session").click()
    sidebar.ask("In another session")
    expect(sidebar.answers).to_have_text(["And again."])
    sidebar.wait_for_end()
    assert made[0].is_dir()

    open_grants(sidebar)
    grant = sidebar.hook("grant")
    expect(grant).to_have_count(1)
    expect(grant.locator("code")).to_have_text(f"mkdir {made[0].name}")
    expect(grant).to_contain_text(str(mortal_lab.files))
    assert overflowing(sidebar) == []
    sidebar.hook("revoke").click()
    expect(grant).to_have_count(0)
    expect(sidebar.hook("grants-state")).to_contain_text("asks again")
    made[0].rmdir()
    sidebar.ask("And now")
    expect(sidebar.hook("grants-panel")).to_have_count(0)
    expect(sidebar.approvals).to_contain_text(f"mkdir {made[0].name}")
    sidebar.hook("deny").click()
    sidebar.hook("deny-confirm").click()
    expect(sidebar.answers.last).to_have_text("Not this time.")
    assert not made[0].exists()


def test_command_substitution_is_asked_each_time_with_reason(
    tabs: Tabs, lab: LabServer, stage: Stage, name: str
) -> None:
    lab.notebook(f"{name}.ipynb")
    sidebar, _ = tabs.open(lab, f"{name}.ipynb", name)
    stage.play([Call("exec", {"command": f"mkdir {name}-1 && touch $(ls)"})], "Well.")
    sidebar.ask("Touch all")
    expect(sidebar.hook("always-blocked")).to_have_text("Only oncebecause it inserts the output of another command")
    expect(sidebar.hook("approve-once")).to_be_visible()
    expect(sidebar.hook("approve-always")).to_have_count(0)
    expect(sidebar.hook("approve-session")).to_have_count(0)
    sidebar.hook("deny").click()
    sidebar.hook("deny-confirm").click()
    sidebar.wait_for_end()
    assert not lab.files.joinpath(f"{name}-1").exists()
