"""The hostile answers of `payloads/`: texts that a page must show without loading, running, clicking or covering
anything.

A file is a group, a payload begins with a line `=== its-name`, and what stands before the first is a comment. Where the
line goes on with `| inert: why`, today's Chromium does nothing with the payload even unprotected; it is kept for other
browsers and for the day when that changes. `payloads(host)` fills in where a payload shows that it acted:

    {{URL}}            an address of its own at the listener, http://HOST/p/NAME; an ending such as `.css` may follow
    {{HOST}} {{NAME}}  its parts
    {{SCRIPT}}         JavaScript that appends the name to `window.__onyxRan`, with single quotes in it
    {{SCRIPT_BARE}}    the same without a quote or a blank
    {{SCRIPT_ENTITY}}  the same as character references
    {{SCRIPT_URL}}     the same in %XX
    {{PAGE_BASE64}}    base64 of a page that runs the script and asks for the address, for `data:` URLs
    {{URL_ENTITY}}     the address as character references
    {{U+0000}}         a character that one would not see in the file
    {{1000 x >}}       a text so many times
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

FOLDER = Path(__file__).parent / "payloads"
_BEGIN = re.compile(r"^=== (?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)(?: \| inert: (?P<inert>.+))?$", re.MULTILINE)
_SIGN = re.compile(r"\{\{(?:URL|SCRIPT|PAGE|HOST)[A-Z_0-9]*\}\}")
_REPEATED = re.compile(r"\{\{(\d{1,5}) x (.+?)\}\}", re.DOTALL)
_CHARACTER = re.compile(r"\{\{U\+([0-9A-F]{4,6})\}\}")


@dataclass(frozen=True)
class Payload:
    """One hostile answer. `acts` says whether it has something to do at all, `inert` why Chromium does not do it."""

    name: str
    group: str
    text: str
    acts: bool = True
    inert: str = ""


def payloads(host: str = "127.0.0.1:9", folder: Path = FOLDER) -> list[Payload]:
    """Every payload of every file, aimed at `host` (address and port). Raises: ValueError where a name comes twice."""
    found = [one for path in sorted(folder.glob("*.md")) for one in _read(path, host)]
    names = [payload.name for payload in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"Payloads need names of their own; these come twice: {', '.join(twice)}.")
    return found


def _read(path: Path, host: str) -> list[Payload]:
    text = path.read_text("utf-8")
    begins = list(_BEGIN.finditer(text))
    lines = [line for line in text.splitlines() if line.startswith("=== ")]
    if len(lines) != len(begins):
        raise ValueError(f"{path.name}: a line that begins with `=== ` has no valid name.")
    ends = [begin.start() for begin in begins[1:]] + [len(text)]
    found = []
    for begin, end in zip(begins, ends, strict=True):
        template = text[begin.end() : end].strip("\n")
        found.append(
            Payload(
                begin["name"],
                path.stem,
                filled(template, begin["name"], host),
                acts=_SIGN.search(template) is not None,
                inert=begin["inert"] or "",
            )
        )
    return found


def filled(template: str, name: str, host: str) -> str:
    """The text with its placeholders replaced."""
    url = f"http://{host}/p/{name}"
    script = f"window.__onyxRan=(window.__onyxRan||[]).concat('{name}')"
    page = f"<script>{script};new Image().src='{url}'</script>"
    values = {
        "URL": url,
        "URL_ENTITY": _entities(url),
        "HOST": host,
        "NAME": name,
        "SCRIPT": script,
        "SCRIPT_BARE": script.replace(f"'{name}'", f"/{name}/.source"),
        "SCRIPT_ENTITY": _entities(script),
        "SCRIPT_URL": quote(script, safe=""),
        "PAGE_BASE64": base64.b64encode(page.encode()).decode(),
    }
    for key, value in values.items():
        template = template.replace(f"{{{{{key}}}}}", value)
    template = _CHARACTER.sub(lambda found: chr(int(found[1], 16)), template)
    return _REPEATED.sub(lambda found: found[2] * int(found[1]), template)


def _entities(text: str) -> str:
    return "".join(f"&#{ord(character)};" for character in text)
