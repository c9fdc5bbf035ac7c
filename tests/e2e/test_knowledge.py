"""Documents: added in the file browser or uploaded in the memory panel, followed, found by the agent, and removed."""

from collections.abc import Callable

from playwright.sync_api import Route, expect

from onyx_jupyter.testing.script import Call
from tests.e2e.lab_server import LabServer
from tests.e2e.memory_panel import MemoryPanel
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.stage import Stage
from tests.ingest.files import encrypted_pdf, pdf


def test_folder_added_in_file_browser_is_found_in_conversation(
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


def test_uploaded_file_is_counted_cited_removed_and_restored(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], stage: Stage
) -> None:
    sidebar, notebook = open_lab("1")
    notebook.wait_for_kernel()
    page = sidebar.page
    panel = MemoryPanel(page)
    panel.show()
    manual = pdf("The windlass turns clockwise.", "Its brake is released with a lever.")
    files = {"name": "windlass.pdf", "mimeType": "application/pdf", "buffer": manual}
    panel.hook("document-files").set_input_files([files, {**files, "name": "windlass.zip"}])
    row = panel.document("windlass.pdf")
    expect(row).to_contain_text("2 passages")
    expect(row).to_have_css("display", "grid")  # as a row of the panel, whatever its classes are called
    refused = panel.hook("document-upload")
    expect(refused).to_contain_text("Files of type .zip are not supported.")
    refused.locator("[data-onyx=document-dismiss]").click()
    expect(refused).to_have_count(0)

    # Dropped onto the panel, a file is taken, JupyterLab stays where it is, and one sees what comes of it.
    panel.search.fill("sluice")
    expect(panel.hook("documents")).to_have_count(0)
    panel.drop("tide.md", "# Tide\n\nThe sluice opens at half tide.\n")
    expect(panel.document("tide.md")).to_contain_text("1 passage")

    # One that hangs outlives the panel, and is stopped in the next one.
    held: list[Route] = []
    page.route("**/knowledge/uploads?name=hangs*", lambda route: held.append(route))
    panel.drop("hangs.md", "# Nobody reads this\n")
    going = panel.hook("document-upload").filter(has_text="hangs.md")
    expect(going).to_contain_text("uploading")
    panel.close()
    panel.show()
    expect(going).to_contain_text("uploading")
    with page.expect_event("requestfailed", lambda request: "hangs.md" in request.url):
        going.get_by_role("button").click()
    expect(going).to_have_count(0)
    held[0].abort()

    search = {"tool": "knowledge_search", "arguments": {"query": "How is the windlass's brake released?", "limit": 1}}
    stage.play([Call("more_tools", search)], "With a lever (windlass.pdf, page 2).")
    sidebar.ask("How do I release the windlass's brake?")
    expect(sidebar.answers.last).to_contain_text("windlass.pdf, page 2")
    result = str(stage.asked[1].body["messages"][-1]["content"])
    assert '"path": "windlass.pdf"' in result
    assert '"page": 2' in result

    # By the keyboard alone: from the list into its detail, removed, and brought back by the notice.
    row.press("Enter")
    expect(panel.hook("document-standing")).to_have_text("2 passages can be found, in every conversation.")
    panel.hook("document-remove").press("Enter")
    expect(row).to_have_count(0)
    expect(panel.hook("document-add")).to_be_focused()
    stage.play([Call("more_tools", search)], "Nothing is known of it.")
    sidebar.ask("And now?")
    expect(sidebar.answers.last).to_contain_text("Nothing is known of it.")
    assert "windlass.pdf" not in str(stage.asked[1].body["messages"][-1]["content"])
    panel.notices.get_by_text("Undo").press("Enter")
    expect(row).to_contain_text("2 passages")

    # A reload shows the same; Delete removes what has the keyboard, and leads on to the row beside it.
    page.reload()
    sidebar.show()
    panel.show()
    expect(panel.search).to_be_focused()  # which comes a moment after the panel
    panel.document("tide.md").press("Delete")
    expect(panel.document("tide.md")).to_have_count(0)
    expect(row).to_be_focused()
    panel.press("Delete")
    expect(row).to_have_count(0)
