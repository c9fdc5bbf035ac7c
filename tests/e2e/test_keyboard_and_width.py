"""Without a mouse, without much room, in the dark; and what one sees the very first time."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from onyx_jupyter.testing.script import Call, Say
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import APPEAR_MS, SHORTCUT, Notebook, Sidebar, overflowing
from tests.e2e.stage import Stage, tool_results

NARROWEST_PX = 280
LONG = "a_name_without_any_place_to_break_" * 6
THEME = "@jupyterlab/apputils-extension/themes"


def test_ask_deny_and_return_by_keyboard(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], lab: LabServer, stage: Stage, name: str
) -> None:
    sidebar, notebook = open_lab("'first'")
    keys = sidebar.page.keyboard
    stage.play([Call("exec", {"command": f"touch {name}"})], "As you like.")
    notebook.source(0).click()
    keys.press(SHORTCUT)
    expect(sidebar.input).to_be_focused()
    keys.type("Touch it")
    keys.press("Shift+Enter")
    keys.type("please")
    expect(sidebar.said).to_have_count(0)
    keys.press("Enter")
    expect(sidebar.said).to_contain_text("Touch it\nplease", use_inner_text=True)

    # Nothing takes the focus from who writes; one key leads to the question, Escape is a no.
    expect(sidebar.approvals).to_be_visible()
    expect(sidebar.input).to_be_focused()
    keys.press("ArrowUp")
    expect(sidebar.approvals).to_be_focused()
    keys.press("Escape")
    expect(sidebar.hook("deny-reason")).to_be_focused()
    keys.type("not today")
    keys.press("Enter")
    expect(sidebar.answers.last).to_contain_text("As you like.")
    assert "not today" in tool_results(stage.asked[1])[-1]
    assert not lab.files.joinpath(name).exists()


def test_nothing_overflows_at_minimum_width_in_dark_theme(tabs: Tabs, lab: LabServer, stage: Stage, name: str) -> None:
    lab.set(THEME, {"theme": "JupyterLab Dark"})
    lab.notebook(f"{name}.ipynb", "1")
    try:
        sidebar, _ = tabs.open(lab, f"{name}.ipynb", name)
        expect(sidebar.page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    finally:
        lab.set(THEME, {"theme": "JupyterLab Light"})
    narrow(sidebar)
    assert overflowing(sidebar) == []
    code = f"```python\n{LONG} = '{LONG}'\n```"
    table = f"| {LONG} | b |\n|---|---|\n| c | {LONG} |"
    stage.play(
        [Say(f"{LONG}\n\n{code}\n\n{table}\n\n$$ {'x + ' * 60} x $$\n"), Call("exec", {"command": f"echo {LONG}"})],
        [Call("notebook_insert_cell", {"path": f"{name}.ipynb", "cellType": "code", "source": f"{LONG} = 1"})],
        "Done.",
    )
    sidebar.ask(f"A question with {LONG}")
    for expected in ("echo", "= 1"):
        expect(sidebar.approvals).to_contain_text(expected)
        assert overflowing(sidebar) == []
        sidebar.hook("approve-once").click()
    sidebar.wait_for_end()
    sidebar.cards.first.get_by_role("button").first.click()
    assert overflowing(sidebar) == []
    sidebar.hook("session-title").click()
    expect(sidebar.hook("session").first).to_be_visible()
    assert overflowing(sidebar) == []
    sidebar.models.select_option(label="Connect a model…")
    expect(sidebar.hook("connect-panel")).to_be_visible()
    assert overflowing(sidebar) == []


def test_sidebar_opens_first_time_and_then_remembers_choice(tabs: Tabs, lab: LabServer, name: str) -> None:
    lab.notebook(f"{name}.ipynb")
    page = tabs.new()
    page.goto(lab.url(f"lab/workspaces/{name}/tree/{name}.ipynb"))
    sidebar = Sidebar(page)
    expect(sidebar.input).to_be_visible(timeout=APPEAR_MS)
    expect(sidebar.empty).to_contain_text("scripted/writer")
    assert width_of(sidebar) >= NARROWEST_PX
    assert overflowing(sidebar) == []
    hide(page)
    expect(sidebar.input).not_to_be_visible()
    # The layout is saved a moment later.
    with page.expect_response(lambda response: "/api/workspaces/" in response.url and response.request.method == "PUT"):
        pass
    page.reload()
    expect(page.locator(".jp-SideBar li[data-id=onyx-chat]")).to_be_visible(timeout=APPEAR_MS)
    expect(page.locator("#jupyterlab-splash")).to_have_count(0, timeout=APPEAR_MS)
    expect(sidebar.input).not_to_be_visible()


def narrow(sidebar: Sidebar) -> None:
    """Draws the sidebar's edge to where it can be no narrower."""
    box = sidebar.node.bounding_box()
    assert box is not None
    mouse = sidebar.page.mouse
    mouse.move(box["x"] - 2, box["y"] + 300)
    mouse.down()
    mouse.move(box["x"] + box["width"] - 20, box["y"] + 300, steps=5)
    mouse.up()
    assert width_of(sidebar) <= NARROWEST_PX + 5


def width_of(sidebar: Sidebar) -> float:
    box = sidebar.node.bounding_box()
    assert box is not None
    return box["width"]


def hide(page: Page) -> None:
    page.locator(".jp-SideBar li[data-id=onyx-chat]").click()
