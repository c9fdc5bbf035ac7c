"""The corpus is whole: names of their own, nothing left to fill in, enough of it; and the listener hears everything."""

import re
import socket
import urllib.request
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.e2e.lab_server import until
from tests.e2e.rendering.corpus import FOLDER, Payload, filled, payloads
from tests.e2e.rendering.listener import Listener, answer_to

ALL = payloads()
PLACEHOLDER = re.compile(r"\{\{(?:[A-Z_0-9]+|U\+[0-9A-F]+|\d+ x )")
SCRIPT = "window.__onyxRan=(window.__onyxRan||[]).concat('a')"


def test_corpus_has_many_payloads_of_many_kinds() -> None:
    assert len(ALL) >= 150
    assert len({payload.group for payload in ALL}) >= 12
    assert len({payload.name for payload in ALL}) == len(ALL)
    assert all(payload.text.strip() for payload in ALL)


def test_every_payload_file_is_read() -> None:
    assert {payload.group for payload in ALL} == {path.stem for path in FOLDER.iterdir()}


def test_no_placeholder_is_left_unfilled() -> None:
    assert [payload.name for payload in ALL if PLACEHOLDER.search(payload.text)] == []


def test_most_payloads_can_prove_execution() -> None:
    assert len([payload for payload in ALL if payload.acts and not payload.inert]) >= 150
    for group in {payload.group for payload in ALL} - {"clobbering", "covering", "jupyterlab"}:
        shown = [payload.acts for payload in ALL if payload.group == group]
        assert sum(shown) >= 0.75 * len(shown), group


def test_payloads_are_short_enough_to_review() -> None:
    for path in FOLDER.iterdir():
        for template in path.read_text("utf-8").split("\n=== ")[1:]:
            assert len(template) <= 1500, template[:60]


def test_placeholders_get_payload_address_and_name() -> None:
    assert filled("{{URL}}.css {{HOST}} {{NAME}}", "a", "h:1") == "http://h:1/p/a.css h:1 a"
    assert filled("{{SCRIPT}}", "a", "h:1") == SCRIPT
    assert not set("'\" <>`") & set(filled("{{SCRIPT_BARE}}", "a-b", "h:1"))
    assert unescape(filled("{{SCRIPT_ENTITY}}", "a", "h:1")) == SCRIPT
    assert unquote(filled("{{SCRIPT_URL}}", "a", "h:1")) == SCRIPT
    assert filled("{{U+0041}}{{3 x {{U+0042}}-}}", "a", "h:1") == "AB-B-B-"
    assert filled("x{{{URL}}}y", "a", "h:1") == "x{http://h:1/p/a}y"


def test_duplicate_and_invalid_names_are_rejected(tmp_path: Path) -> None:
    tmp_path.joinpath("one.md").write_text("a comment\n=== a\n<b>\n\n=== b | inert: why\nx\n", "utf-8")
    assert payloads(folder=tmp_path) == [
        Payload("a", "one", "<b>", acts=False),
        Payload("b", "one", "x", acts=False, inert="why"),
    ]
    tmp_path.joinpath("two.md").write_text("=== a\nx\n", "utf-8")
    with pytest.raises(ValueError, match="come twice: a"):
        payloads(folder=tmp_path)
    tmp_path.joinpath("two.md").write_text("=== Not A Name\nx\n", "utf-8")
    with pytest.raises(ValueError, match=r"two\.md"):
        payloads(folder=tmp_path)


def test_listener_records_path_and_headers_and_answers_by_type() -> None:
    with Listener() as listener:
        request = urllib.request.Request(f"{listener.url}/p/some-name.css?q=1", headers={"x-said": "this"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.status == 200
            assert answer.headers["content-type"] == "text/css"
        assert [(one.method, one.path, one.name) for one in listener.seen] == [
            ("GET", "/p/some-name.css?q=1", "some-name")
        ]
        assert listener.seen[0].headers["x-said"] == "this"
        assert listener.names == {"some-name"}
        listener.clear()
        assert (listener.seen, listener.connections, listener.names) == ([], 0, set())


def test_listener_records_connection_without_request() -> None:
    with Listener() as listener:
        host, _, port = listener.host.partition(":")
        with socket.create_connection((host, int(port))):
            until(lambda: listener.connections == 1)
        assert listener.seen == []


def test_test_page_is_served_and_not_recorded() -> None:
    with Listener() as listener:
        listener.pages["/control"] = "<p>x"
        with urllib.request.urlopen(f"{listener.url}/control?a=1", timeout=10) as answer:
            assert answer.read() == b"<p>x"
        assert listener.seen == []


@pytest.mark.parametrize(
    ("path", "kind", "begins"),
    [
        ("/p/a.png", "image/gif", b"GIF"),
        ("/p/a", "image/gif", b"GIF"),
        ("/p/a.js?x", "text/javascript", SCRIPT.encode()),
        ("/p/a.html", "text/html", b"<!doctype html><script>" + SCRIPT.encode()),
        ("/p/a.svg", "image/svg+xml", b"<svg"),
    ],
)
def test_response_type_matches_extension(path: str, kind: str, begins: bytes) -> None:
    answered, body = answer_to(path)
    assert answered == kind
    assert body.startswith(begins)
