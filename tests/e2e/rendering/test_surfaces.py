"""The corpus of hostile answers in every place that shows what a model, a tool or a page wrote: nothing acts."""

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call, Say, Think
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.memory_panel import MemoryPanel
from tests.e2e.rendering.corpus import Payload, payloads
from tests.e2e.rendering.listener import Listener
from tests.e2e.rendering.surfaces import (
    CONTROL,
    by_group,
    card_output,
    display,
    parts,
    plain_outputs,
    without_our_front_end,
    write_session,
    write_trusted,
)
from tests.e2e.rendering.watch import DRAW_MS, Watch
from tests.e2e.sidebar import APPEAR_MS, Notebook, Sidebar
from tests.e2e.skills_panel import SkillsPanel
from tests.e2e.stage import Stage
from tests.skills.notebooks import cell, write_notebook, write_text_skill

pytestmark = pytest.mark.timeout(600)
AT_ONCE = 40
THEMES = "@jupyterlab/apputils-extension/themes"
# What is drawn in the theme's colours, or brings its own: of the rest the dark theme shows the same elements.
DIAGRAMS = ("mermaid", "mermaid-kinds")
THEMED = (*DIAGRAMS, "styles", "covering")
# Diagrams come one after the other, and each lays its whole page out anew: they have one to themselves.
CARDS: dict[str, Callable[[Payload], bool]] = {
    "cards": lambda payload: payload.group not in DIAGRAMS,
    "diagrams": lambda payload: payload.group in DIAGRAMS,
    "themed": lambda payload: payload.group in THEMED,
}
# All cells and outputs are in the page at once.
NOTEBOOKS = {"windowingMode": "none", "maxNumberOutputs": 1000}
SHOW = """import json
from pathlib import Path
for payload in json.loads(Path(corpus).read_text())[first:first + 100]:
    for kind in ('text/html', 'text/markdown', 'text/latex', 'image/svg+xml', 'application/javascript'):
        display({kind: payload, 'text/plain': '-'}, raw=True)
"""


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    with Listener() as listening:
        yield listening


@pytest.fixture(scope="module")
def corpus(listener: Listener) -> list[Payload]:
    return payloads(listener.host)


@pytest.fixture(scope="module")
def lab(
    provider: Stage, chromium: str, tmp_path_factory: pytest.TempPathFactory, corpus: list[Payload]
) -> Iterator[LabServer]:
    """A server whose conversations, memory, skills and notebooks are full of it."""
    lab = LabServer(tmp_path_factory.mktemp("hostile"), provider.config(embedder="none"))
    for number, some in enumerate(parts(corpus, AT_ONCE)):
        write_session(lab, f"hostile {number:02}", [payload.text for payload in some])
    for notebook, is_there in CARDS.items():
        write_trusted(lab, f"{notebook}.ipynb", [card_output(payload) for payload in filter(is_there, corpus)])
    outputs = [output for payload in corpus for output in plain_outputs(payload)]
    write_trusted(lab, "outputs.ipynb", [display(CONTROL), *outputs])
    memory = lab.home / "workspace" / "memory"
    memory.mkdir(parents=True)
    for group, text in by_group(corpus).items():
        (memory / f"{group}.md").write_text(text, "utf-8")
        write_text_skill(lab.home / "skills" / f"hostile-{group}", text)
    (lab.files / "corpus.json").write_text(json.dumps([payload.text for payload in corpus]), "utf-8")
    parameters = cell("corpus: str = 'corpus.json'\nfirst: int = 0", "parameters")
    write_notebook(lab.home / "skills" / "show-corpus.ipynb", parameters, cell(SHOW, "result"))
    lab.set("@jupyterlab/notebook-extension/tracker", NOTEBOOKS)
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture
def watched(tabs: Tabs, listener: Listener) -> Watch:
    listener.clear()
    return Watch(tabs.new(), listener)


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest, lab: LabServer) -> Iterator[str]:
    """The theme of the next pages."""
    lab.set(THEMES, {"theme": f"JupyterLab {request.param.title()}"})
    yield request.param
    lab.set(THEMES, {})


def open_sidebar(watched: Watch, lab: LabServer, name: str) -> Sidebar:
    lab.notebook(f"{name}.ipynb", "1")
    watched.page.goto(lab.url(f"lab/workspaces/{name}/tree/{name}.ipynb", reset=""))
    sidebar = Sidebar(watched.page)
    sidebar.show()
    Notebook(watched.page).wait(cells=1)
    expect(sidebar.models).to_contain_text("writer")  # it is connected
    watched.show_everything()
    return sidebar


def test_sidebar_answers(watched: Watch, lab: LabServer, corpus: list[Payload], theme: str, name: str) -> None:
    sidebar = open_sidebar(watched, lab, name)
    for number, some in enumerate(parts(corpus, AT_ONCE)):
        if theme == "dark" and not any(payload.group in THEMED for payload in some):
            continue
        sidebar.hook("session-title").click()
        sidebar.hook("session").filter(has_text=f"hostile {number:02}").click()
        expect(sidebar.runs).to_have_count(len(some))
        watched.assert_quiet()


def test_streaming_answers(watched: Watch, lab: LabServer, corpus: list[Payload], stage: Stage, name: str) -> None:
    sidebar = open_sidebar(watched, lab, name)
    texts = by_group(corpus)
    stage.play(*[[Say(text, 400)] for text in texts.values()])
    for _ in texts:
        sidebar.hook("new-session").click()
        expect(sidebar.runs).to_have_count(0)
        sidebar.ask("Go on")
        expect(sidebar.runs).to_have_count(1)
        expect(sidebar.runs.last).to_have_attribute("data-status", "final", timeout=DRAW_MS)
        watched.assert_quiet()


@pytest.mark.parametrize(
    ("theme", "cards"), [("light", "cards"), ("light", "diagrams"), ("dark", "themed")], indirect=["theme"]
)
def test_cell_cards(watched: Watch, lab: LabServer, corpus: list[Payload], theme: str, cards: str, name: str) -> None:
    watched.page.goto(lab.url(f"lab/workspaces/{name}/tree/{cards}.ipynb", reset=""))
    assert_cards_quiet(watched, corpus, cards)


@pytest.mark.parametrize("cards", ["cards", "diagrams"])
def test_cards_in_notebook_7(watched: Watch, lab: LabServer, corpus: list[Payload], cards: str) -> None:
    watched.page.goto(lab.url(f"notebooks/{cards}.ipynb"))
    assert_cards_quiet(watched, corpus, cards)


def assert_cards_quiet(watched: Watch, corpus: list[Payload], cards: str) -> None:
    watched.show_everything()
    shown = len(list(filter(CARDS[cards], corpus)))
    expect(watched.page.locator("[data-onyx=cell-turn]")).to_have_count(shown, timeout=DRAW_MS)
    watched.assert_quiet()


def test_outputs_in_trusted_notebook_without_front_end(
    watched: Watch, lab: LabServer, corpus: list[Payload], theme: str, name: str
) -> None:
    with without_our_front_end(lab):
        watched.page.goto(lab.url(f"lab/workspaces/{name}/tree/outputs.ipynb", reset=""))
        outputs = watched.page.locator(".jp-RenderedHTML")
        expect(outputs).to_have_count(2 * len(corpus) + 1, timeout=DRAW_MS)
    expect(watched.page.locator("[data-onyx]")).to_have_count(0)
    assert watched.page.evaluate("window.__onyxControl") is True  # the page would run whatever we let through
    watched.assert_quiet()


def test_memory_files(watched: Watch, lab: LabServer, corpus: list[Payload], name: str) -> None:
    open_sidebar(watched, lab, name)
    panel = MemoryPanel(watched.page)
    panel.show()
    for group in by_group(corpus):
        panel.file(f"memory/{group}.md").click()
        expect(panel.text.locator(".onyx-Block").first).to_be_attached()
        watched.assert_quiet()


def test_skill_texts(watched: Watch, lab: LabServer, corpus: list[Payload], name: str) -> None:
    open_sidebar(watched, lab, name)
    panel = SkillsPanel(watched.page)
    panel.show()
    for group in by_group(corpus):
        panel.skill(f"hostile-{group}").click()
        watched.assert_quiet()  # what it holds, before it is trusted
        panel.hook("trust").click()
        expect(panel.node.locator(".onyx-Block").first).to_be_attached()
        watched.assert_quiet()


def test_skill_outputs_in_panel(watched: Watch, lab: LabServer, corpus: list[Payload], name: str) -> None:
    open_sidebar(watched, lab, name)
    panel = SkillsPanel(watched.page)
    panel.show()
    panel.skill("show-corpus").click()
    panel.hook("trust").click()
    for first in range(0, len(corpus), 100):
        panel.fill("first", str(first))
        panel.hook("skill-run").click()
        if first:  # a single run is no history
            expect(panel.hook("skill-history-run")).to_have_count(first // 100 + 1, timeout=DRAW_MS)
        panel.wait_for("ok")
        expect(panel.hook("skill-outputs").locator(".onyx-Output").first).to_be_attached()
        watched.assert_quiet()


def test_plain_text_surfaces(watched: Watch, lab: LabServer, corpus: list[Payload], stage: Stage, name: str) -> None:
    """Thoughts, calls, approvals, questions, plans and notices: none of them is ever read as HTML."""
    sidebar = open_sidebar(watched, lab, name)
    texts = list(by_group(corpus).values())
    everything = "\n".join(texts)
    (lab.files / "everything.txt").write_text(everything[8_000:20_000], "utf-8")
    steps = [{"text": " ".join(text.split())[:200], "status": "pending"} for text in texts]
    stage.play(
        [
            Think(everything[:60_000], 400),
            Call("plan_update", {"steps": steps}),
            Call("read", {"path": "everything.txt"}),
        ],
        [Call("ask_user", {"question": texts[0][:900], "choices": [text[:80] for text in texts[:4]]})],
        [Call("write", {"path": "x.txt", "content": everything[-8_000:]})],
        [Call("exec", {"command": texts[1][:2_000]})],
        "Done.",
    )
    sidebar.ask(everything[:8_000])
    sidebar.hook("question").wait_for(timeout=APPEAR_MS)
    for opened in [*sidebar.cards.all(), sidebar.hook("thought").get_by_role("button")]:
        opened.click()
    expect(sidebar.hook("thought-text")).to_contain_text("<")
    watched.assert_quiet()
    sidebar.hook("choice").first.click()
    for _ in range(2):
        expect(sidebar.approvals).to_be_visible()
        watched.page.locator(".jp-SideBar li[data-id=onyx-chat]").click()  # hidden, so a notice says what waits
        expect(watched.page.locator(".Toastify__toast").first).to_be_visible()
        watched.assert_quiet()
        sidebar.show()
        former = sidebar.approvals.get_attribute("data-approval-id")
        sidebar.hook("deny").click()
        sidebar.hook("deny-reason").press("Enter")
        expect(sidebar.page.locator(f"[data-approval-id='{former}']")).to_have_count(0)
    sidebar.wait_for_end()
    watched.assert_quiet()


def test_answer_cannot_cover_approval(watched: Watch, lab: LabServer, stage: Stage, name: str) -> None:
    sidebar = open_sidebar(watched, lab, name)
    covering = [payload.text for payload in payloads(watched.listener.host) if payload.group == "covering"]
    fake = '<div class="onyx-Approval" data-onyx="approval" style="position:fixed;top:0;z-index:99">git status</div>'
    stage.play(*[[Say(text + fake, 400), Call("exec", {"command": "rm everything"})] for text in covering[:8]])
    for number in range(8):
        sidebar.ask("Go on")
        expect(sidebar.approvals).to_have_count(1)
        watched.assert_quiet()
        for part in (sidebar.hook("approval-source"), sidebar.hook("approve-once"), sidebar.hook("deny")):
            part.scroll_into_view_if_needed()
            assert part.evaluate(
                """part => {
                    const box = part.getBoundingClientRect();
                    const seen = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
                    return seen === part || part.contains(seen);
                }"""
            ), number
        expect(sidebar.approvals).to_contain_text("rm everything")
        sidebar.hook("stop").click()
        sidebar.wait_for_end("aborted")
