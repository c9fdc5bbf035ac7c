"""The unprotected page: Markdown to HTML with everything allowed, in frames of one page, so that each payload can act.

It is what a careless front end does. That payloads act here shows that the tests of the real one can fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from markdown_it import MarkdownIt
from playwright.sync_api import Page

from tests.e2e.lab_server import until
from tests.e2e.rendering.corpus import Payload
from tests.e2e.rendering.listener import Listener

FRAMES = 40  # at once
SETTLE_S = 4.0
# Tells the page around it as soon as a script ran, since a frame may go elsewhere afterwards.
_TELLS = """<!doctype html><script>
Object.defineProperty(window, '__onyxRan', {
  get: () => [],
  set: names => names.forEach(name => parent.signs.add(name))
});
</script><body>"""
# No navigation at the top, which would end the other payloads too.
_SANDBOX = "allow-scripts allow-same-origin allow-forms allow-popups allow-modals"
_TOUCH = """() => {
  const fire = (element, kind, name, more) =>
    element.dispatchEvent(new kind(name, {bubbles: true, cancelable: true, composed: true, ...more}));
  for (const frame of document.querySelectorAll('iframe')) {
    let page;
    try { page = frame.contentDocument; } catch { continue; }
    if (page?.body && 'twice' in frame.dataset) page.body.innerHTML = page.body.innerHTML;
    for (const element of page?.body ? [...page.querySelectorAll('body *')].slice(0, 60) : []) {
      try {
        for (const name of ['pointerover', 'pointerenter', 'pointermove', 'pointerrawupdate', 'pointerdown'])
          fire(element, frame.contentWindow.PointerEvent, name);
        for (const name of ['mouseover', 'mousemove', 'mousedown', 'contextmenu', 'auxclick'])
          fire(element, frame.contentWindow.MouseEvent, name);
        fire(element, frame.contentWindow.WheelEvent, 'wheel');
        for (const name of ['dragstart', 'copy', 'input', 'keydown', 'cancel', 'scroll'])
          fire(element, frame.contentWindow.Event, name);
        element.focus?.();
        element.blur?.();
        element.focus?.();
        fire(element, frame.contentWindow.MouseEvent, 'click');
      } catch {}
    }
  }
}"""
# Every safeguard of mermaid that its configuration can switch off is off.
_DRAW = """async diagrams => {
  // A link to elsewhere would end the others.
  addEventListener('click', event => {
    const link = event.target.closest('a');
    const address = link?.getAttribute('href') ?? link?.getAttribute('xlink:href') ?? '';
    if (!/^javascript:/i.test(address)) event.preventDefault();
  }, true);
  mermaid.initialize({securityLevel: 'loose', startOnLoad: false, secure: [], htmlLabels: true});
  for (const [name, source] of diagrams) {
    const place = document.body.appendChild(document.createElement('div'));
    try {
      const {svg, bindFunctions} = await mermaid.render('diagram-' + name, source);
      place.innerHTML = svg;
      bindFunctions?.(place);
    } catch { continue; }
    for (const element of place.querySelectorAll('a, .clickable, .clickable *'))
      element.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));
  }
}"""
_NESTED = """() => {
  const names = [...signs];
  const look = inside => {
    try { names.push(...(inside.__onyxRan || [])); } catch { return; }
    for (let number = 0; number < inside.frames.length; number++) look(inside.frames[number]);
  };
  look(window);
  return names;
}"""


def naive_html(markdown: str) -> str:
    """Markdown as HTML, with all HTML and every address let through."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    return str(parser.render(markdown))


def acting(page: Page, listener: Listener, shown: Iterable[Payload]) -> set[str]:
    """The names of those that act when shown in this page, and then touched."""
    able = [payload for payload in shown if payload.acts]
    found: set[str] = set()
    for batch in _batches(able):
        found |= _acting_at_once(page, listener, batch)
    # A neighbour may have taken the focus, or all the time there was; or what was touched was not there yet, as a
    # link that an animation makes.
    for payload in able:
        if not payload.inert and payload.name not in found:
            found |= _acting_at_once(page, listener, [payload], touched_again=True)
    return found


def drawing(page: Page, listener: Listener, shown: Iterable[Payload], mermaid: Path, awaited: set[str]) -> set[str]:
    """The names of those whose diagrams act when mermaid draws them, and somebody clicks."""
    diagrams = [(payload.name, source) for payload in shown for source in _diagrams(payload.text)]
    listener.pages["/control"] = "<!doctype html><base target='_blank'><script>signs = new Set()</script><body>"
    page.goto(f"{listener.url}/control")
    page.add_script_tag(path=mermaid)
    page.evaluate(_DRAW, diagrams)

    def acted() -> set[str]:
        return set(page.evaluate(_NESTED)) | listener.names

    with suppress(TimeoutError):
        until(lambda: awaited <= acted(), SETTLE_S)
    return acted()


def _diagrams(markdown: str) -> Iterator[str]:
    for token in MarkdownIt("commonmark").parse(markdown):
        if token.type == "fence" and token.info.lower().startswith("mermaid"):
            yield token.content


def _acting_at_once(page: Page, listener: Listener, batch: list[Payload], *, touched_again: bool = False) -> set[str]:
    listener.clear()
    listener.pages.clear()
    frames = []
    for payload in batch:
        address = f"/control/{payload.name}"
        listener.pages[address] = _TELLS + naive_html(payload.text)
        twice = "data-twice" if payload.group == "mutation" else ""
        frames.append(f'<iframe {twice} sandbox="{_SANDBOX}" src="{address}" width="300" height="150"></iframe>')
    listener.pages["/control"] = f"<!doctype html><script>signs = new Set()</script>{''.join(frames)}"
    names = {payload.name for payload in batch}
    awaited = {payload.name for payload in batch if not payload.inert}

    def acted() -> set[str]:
        if touched_again:
            page.evaluate(_TOUCH)
        return (set(page.evaluate(_NESTED)) | listener.names) & names

    page.goto(f"{listener.url}/control")
    page.evaluate(_TOUCH)
    with suppress(TimeoutError):  # who did not act by then is missing in the answer
        until(lambda: awaited <= acted(), SETTLE_S)
    return acted()


def _batches(shown: list[Payload]) -> Iterator[list[Payload]]:
    for start in range(0, len(shown), FRAMES):
        yield shown[start : start + FRAMES]
