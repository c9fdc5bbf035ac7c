"""The frame that draws diagrams: whatever runs in it reaches nothing, and takes nobody anywhere."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.e2e.rendering.listener import Listener
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.stage import Stage

# Each way to load something from within, and then to leave; gives back the names of those that were refused.
TRY_ALL = """async url => {
    const refused = [];
    const attempt = async (name, load) => {
        try { await load(); } catch { refused.push(name); }
    };
    const element = (tag, attributes) => new Promise((loaded, failed) => {
        const node = Object.assign(document.createElement(tag), attributes);
        node.onload = loaded;
        node.onerror = failed;
        document.body.append(node);
        setTimeout(failed, 2000);
    });
    await attempt('fetch', () => fetch(`${url}/fetch`, { mode: 'no-cors' }));
    await attempt('picture', () => element('img', { src: `${url}/picture.png` }));
    await attempt('style', () => element('link', { rel: 'stylesheet', href: `${url}/style.css` }));
    await attempt('script', () => element('script', { src: `${url}/script.js` }));
    await attempt('import', () => import(`${url}/module.js`));
    await attempt('storage', () => localStorage.setItem('a', 'b'));
    await attempt('page', () => parent.parent.document.body);
    await attempt('opened', () => { if (!open(`${url}/opened`)) throw 0; });
    await attempt('top', () => { top.location.href = `${url}/top`; });
    return refused;
}"""
ALL = ["fetch", "picture", "style", "script", "import", "storage", "page", "opened", "top"]


def test_frame_content_cannot_reach_network_or_navigate(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], stage: Stage
) -> None:
    sidebar, _ = open_lab()
    page = sidebar.page
    stage.play("```mermaid\ngraph LR\n  A --> B\n```", "```mermaid\ngraph TD\n  B --> C\n```")
    sidebar.ask("Draw")
    diagrams = sidebar.answers.locator("[data-onyx=diagram] img")
    expect(diagrams).to_be_visible()
    (frame,) = [one for one in page.frames if one.parent_frame and one.parent_frame.parent_frame]
    address = page.url
    with Listener() as listener:
        assert frame.evaluate("origin") == "null"
        assert frame.evaluate(TRY_ALL, listener.url) == ALL
        assert listener.connections == 0
        frame.evaluate("url => { location.href = `${url}/itself`; }", listener.url)
        # Where it goes is refused, too. (Chromium opens a connection before it looks whether it may, and asks nothing.)
        sidebar.ask("Draw again")
        expect(sidebar.runs).to_have_count(2)
        sidebar.wait_for_end()
        assert listener.seen == []
    assert page.url == address


def test_invalid_diagram_shows_message_and_source(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], stage: Stage
) -> None:
    sidebar, _ = open_lab()
    stage.play("```mermaid\ngraph LR\n  A -->\n```\n\n```mermaid\ngraph LR\n  A --> B\n```")
    sidebar.ask("Draw")
    first, second = sidebar.hook("diagram").first, sidebar.hook("diagram").last
    expect(first).to_contain_text("This diagram cannot be drawn: ")
    expect(first.locator("pre")).to_contain_text("A -->")
    expect(second.locator("img")).to_be_visible()
