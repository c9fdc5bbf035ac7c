"""Any bytes under any name end in passages or a report, never in another error."""

import io
import json
import re
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onyx_jupyter.errors import DocumentUnreadable
from onyx_jupyter.ingest.document import Document
from onyx_jupyter.ingest.document_chunking import cut
from onyx_jupyter.ingest.document_reader import DocumentReader
from onyx_jupyter.ingest.readers import MAX_TEXT_CHARS, MAX_TEXT_LINES, READERS, read_document
from tests.ingest.files import code_cell, encrypted_pdf, markdown_cell, notebook, opened, parquet, pdf, printed

SUFFIXES = sorted(suffix for reader in READERS for suffix in reader.suffixes)
WHOLE = [
    pdf("One page\nof two lines", "Another"),
    encrypted_pdf("Nobody's"),
    parquet({"town": ["Cuxhaven", "Emden"], "height": [4.2, 3.1]}),
    notebook(markdown_cell("# Title"), code_cell("1 + 1", printed("2"))),
    b"<html><body><h1>Title</h1><p>Some words of a page</p></body></html>",
    b"# Title\n\nSome words\n\n```python\ndef f(): pass\n```\n",
    b"town,height\nCuxhaven,4.2\n",
    b"class Sail:\n    def reef(self):\n        return 1\n",
]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A real file of which a part is cut out, and another put in."""
    data = draw(st.sampled_from(WHOLE))
    start, end = sorted((draw(st.integers(0, len(data))), draw(st.integers(0, len(data)))))
    return data[:start] + draw(st.binary(max_size=20)) + data[end:]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["cells", "source", "outputs", "cell_type", "id", "text", "data", "worksheets", "output_type"]
            ),
            inner,
        )
    ),
    max_leaves=12,
)


@given(st.sampled_from([*SUFFIXES, "", ".zip"]), st.binary(max_size=300) | damaged() | st.text().map(str.encode))
@example(".py", b"x = " + b"(" * 5000)
@example(".py", b"\\\n" * 5000)
@example(".ipynb", b"[" * 100_000)
@example(".html", b"<div>" * 20_000)
@example(".md", b"\xff\xfe\x00\xd8")
def test_any_bytes_yield_passages_or_a_report(suffix: str, data: bytes) -> None:
    document = read(f"a{suffix}", data)
    if isinstance(document, str):
        assert len(document) > 10
        return
    assert document.text.strip()
    assert len(document.text) <= MAX_TEXT_CHARS
    assert document.text.count("\n") < MAX_TEXT_LINES
    document.text.encode("utf-8")
    chunks = cut(document, "a")
    lines = document.text.split("\n")
    for chunk in chunks:
        assert chunk.text in "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        assert chunk.parent is not None
        assert chunk.parent[0] <= chunk.start_line <= chunk.end_line <= chunk.parent[1] <= len(lines)
    found = set(re.findall(r"\w{1,20}", " ".join(chunk.text for chunk in chunks)))
    assert set(re.findall(r"\b\w{1,20}\b", document.text)) <= found
    if document.own_lines:
        assert document.text.count("\n") <= data.count(b"\n") + data.count(b"\r")


@given(st.fixed_dictionaries({}, optional={"cells": JSON, "worksheets": JSON}))
def test_any_json_notebook_yields_text_or_a_report(content: object) -> None:

    outcome = read("a.ipynb", json.dumps(content).encode())
    assert not isinstance(outcome, str) or "could not be read as" not in outcome


def read(name: str, data: bytes) -> Document | str:
    """The document, or the report."""
    try:
        return read_document(name, io.BytesIO(data))
    except DocumentUnreadable as refused:
        return str(refused)


@pytest.fixture(scope="module")
def process():
    process = DocumentReader()
    yield process
    process.close()


@given(
    suffix=st.sampled_from([*SUFFIXES, ""]),
    title=st.text(max_size=10),
    data=st.binary(max_size=300) | damaged() | st.text().map(str.encode),
)
@example(suffix=".md", title="\ud800", data="# One\u2028two\x85\x1c\n\nthree\r\nfour".encode())
@example(suffix=".ipynb", title="A", data=rb'{"cells": [{"cell_type": "markdown", "source": "# \ud800"}]}')
def test_reader_process_matches_in_process_reading(
    process: DocumentReader, suffix: str, title: str, data: bytes
) -> None:
    name = f"a{suffix}"

    def here() -> tuple[object, ...]:
        document = read_document(name, io.BytesIO(data))
        return cut(document, title), document.text, document.title, document.note

    def apart() -> tuple[object, ...]:
        with opened(data) as file:
            found = process.read(name, title, file)
        return found.chunks, found.text, found.title, found.note

    assert outcome(apart) == outcome(here)


def outcome(reading: Callable[[], tuple[object, ...]]) -> tuple[object, ...] | str:
    """What came of it, or the report."""
    try:
        return reading()
    except DocumentUnreadable as refused:
        return str(refused)
