"""What an answer's Markdown becomes: code one can use, formulas, diagrams, and nothing that runs by itself."""

from collections.abc import Callable

from playwright.sync_api import BrowserContext, expect

from onyx_jupyter.testing.script import Say
from tests.e2e.sidebar import Notebook, Sidebar, source_of
from tests.e2e.stage import Stage

CODE = "import math\n\nprint(math.sqrt(2))"
ANSWER = rf"""Some code:

```python
{CODE}
```

The area is $A = \pi r^2$, and it costs $5 to $10.

$$\int_0^1 x^2\,dx = \tfrac{{1}}{{3}}$$

| language | typed |
|---|---|
| Python | gradually |

```mermaid
graph LR
  Question --> Answer
```

The end.
"""
HOSTILE = """Before <script>window.onyxWasHere = 'script'</script> between
<img src="x" onerror="window.onyxWasHere = 'onerror'">
<img src="http://127.0.0.1:9/secret.png"> [link](javascript:window.onyxWasHere='link')
<iframe srcdoc="<script>parent.onyxWasHere = 'frame'</script>"></iframe>
<div style="position: fixed; inset: 0" onclick="window.onyxWasHere = 'click'">after</div>
"""


def test_code_formulas_tables_and_diagrams_are_rendered(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], context: BrowserContext, stage: Stage
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    sidebar, notebook = open_lab("'first'", "'last'")
    stage.play([Say(ANSWER, 16)])
    sidebar.ask("Show me everything")
    sidebar.wait_for_end()

    code = sidebar.hook("code").first
    expect(code.locator("pre span[class]").first).to_be_visible()
    code.locator("[data-onyx=copy-code]").click()
    assert sidebar.page.evaluate("navigator.clipboard.readText()") == CODE
    notebook.cells.first.click()
    code.locator("[data-onyx=insert-code]").click()
    expect(notebook.cells).to_have_count(3)
    assert source_of(notebook.source(1)) == CODE

    expect(sidebar.answers.locator("mjx-container")).to_have_count(2)
    expect(sidebar.answers).to_contain_text("it costs $5 to $10")
    expect(sidebar.answers.locator("td")).to_have_text(["Python", "gradually"])
    expect(sidebar.answers.locator("[data-onyx=diagram] img")).to_be_visible()
    expect(sidebar.answers).to_contain_text("The end.")


def test_hostile_answer_runs_and_loads_nothing(open_lab: Callable[..., tuple[Sidebar, Notebook]], stage: Stage) -> None:
    sidebar, _ = open_lab()
    loaded: list[str] = []
    sidebar.page.on("request", lambda request: loaded.append(request.url))
    stage.play([Say(HOSTILE, 16)])
    sidebar.ask("Be nasty")
    sidebar.wait_for_end()
    answer = sidebar.answers.last
    expect(answer).to_contain_text("after")
    expect(answer.locator("script, iframe, [onerror], [onclick], [href^=javascript]")).to_have_count(0)
    assert answer.get_by_text("after").evaluate("node => getComputedStyle(node).position") == "static"
    answer.get_by_text("after").click()
    answer.get_by_text("link").click()
    assert sidebar.page.evaluate("window.onyxWasHere") is None
    assert [url for url in loaded if "secret.png" in url or url.endswith("/x")] == []
