"""Documents: added in the file browser, followed in a notice, then found by the agent."""

from collections.abc import Callable

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.stage import Stage
from tests.ingest.files import encrypted_pdf, pdf


def test_a_folder_is_added_in_the_file_browser_and_found_in_a_conversation(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], lab: LabServer, stage: Stage, name: str
) -> None:
    docs = lab.files / "manuals"
    docs.mkdir()
    docs.joinpath("pump.pdf").write_bytes(pdf("The bilge pump is emptied by hand.", "Its fuse is under the mast."))
    docs.joinpath("locked.pdf").write_bytes(encrypted_pdf("secret"))
    sidebar, _ = open_lab("1")
    page = sidebar.page
    expect(page.get_by_text("scripted/writer answers")).to_be_visible()  # so it is connected
    page.locator("#filebrowser .jp-DirListing-item", has_text="manuals").click(button="right")
    page.locator(".lm-Menu-item", has_text="Add to Onyx’s Knowledge").click()

    # A notice tells how it went, and leads to what could not be read.
    toast = page.locator(".Toastify__toast", has_text="manuals")
    expect(toast).to_contain_text("Onyx has read “manuals”, except one file or part of it. 2 passages can be found.")
    toast.get_by_role("button", name="Show why").click()
    dialog = page.locator("[data-onyx=knowledge-problems]")
    expect(dialog).to_contain_text("manuals/locked.pdf")
    expect(dialog).to_contain_text("Save a copy without a password")
    page.locator(".jp-Dialog-button").click()

    search = {"tool": "knowledge_search", "arguments": {"query": "Where is the fuse?", "limit": 1}}
    stage.play([Call("more_tools", search)], "Under the mast (manuals/pump.pdf, page 2).")
    sidebar.ask("Where is the pump's fuse?")
    expect(sidebar.answers.last).to_contain_text("page 2")
    result = str(stage.asked[1].body["messages"][-1]["content"])
    assert '"path": "manuals/pump.pdf"' in result
    assert '"page": 2' in result
