"""A document becomes small passages, each with the larger one around it, and with the page or cell it stands on."""

import io
from itertools import pairwise

from onyx_jupyter.ingest.document import Document, Place, Section
from onyx_jupyter.ingest.document_chunking import chunking_fingerprint, cut, place_and_heading
from onyx_jupyter.ingest.readers import read_document
from onyx_jupyter.retrieval.chunking import CHILD_SIZE, PARENT_SIZE
from onyx_jupyter.text_tokens import text_tokens
from tests.ingest.files import code_cell, markdown_cell, notebook, pdf

METHOD = "    def reef_{n}(self, wind):\n        '''Takes in sail {n}.'''\n        return wind * {n}\n"


def chunks_of(name: str, data: bytes):
    return cut(read_document(name, io.BytesIO(data)), name)


def test_passage_header_has_page_and_headings_and_is_parsed_back() -> None:
    first, second = chunks_of("manual.pdf", pdf("The bilge pump has a fuse.", "The anchor weighs 10 kg."))
    assert (place_and_heading(first.heading), first.context) == ((Place(page=1), ""), "manual.pdf")
    assert (second.start_line, place_and_heading(second.heading)[0]) == (2, Place(page=2))


def test_cell_is_found_under_headings_above_it() -> None:
    *_, code = chunks_of("t.ipynb", notebook(markdown_cell("# Tides\n\n## Data"), code_cell("gauge.mean()")))
    assert place_and_heading(code.heading) == (Place(cell=2, cell_id="c2"), "Tides › Data")
    assert code.text == "gauge.mean()"
    assert "Tides › Data" in code.context


def test_document_heading_resembling_a_location_is_a_heading() -> None:
    (chunk,) = chunks_of("a.md", b"# Pages\n\nSome words")
    assert place_and_heading(chunk.heading) == (None, "Pages")


def test_long_class_is_split_at_methods_with_enclosing_definition() -> None:
    source = "class Sail:\n" + "\n".join(METHOD.format(n=n) for n in range(40))
    chunks = chunks_of("sail.py", source.encode())
    assert {chunk.heading for chunk in chunks} == {"Sail", *(f"Sail › reef_{n}" for n in range(40))}
    lines = source.split("\n")
    for chunk in chunks:
        assert chunk.text == "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        assert chunk.heading.rpartition(" › ")[2] in chunk.text


def test_long_function_yields_overlapping_children_in_separate_parents() -> None:
    source = "def voyage():\n" + "\n".join(f"    mark_{n} = sail_to({n}, 'harbour {n}')" for n in range(200))
    chunks = chunks_of("voyage.py", source.encode())
    parents = list(dict.fromkeys(chunk.parent for chunk in chunks))
    assert len(parents) > 1
    assert all(before[1] < after[0] for before, after in pairwise(parents))
    for parent in parents:
        children = [chunk for chunk in chunks if chunk.parent == parent]
        assert all(after.start_line <= before.end_line for before, after in pairwise(children))
    assert max(text_tokens(chunk.text) for chunk in chunks) <= CHILD_SIZE.max_tokens
    lines = source.split("\n")
    assert max(text_tokens("\n".join(lines[first - 1 : last])) for first, last in parents) <= PARENT_SIZE.max_tokens


def test_lines_are_counted_across_sections() -> None:
    document = Document([Section("one\ntwo", "plain"), Section("", "plain"), Section("four", "code")], own_lines=True)
    assert [(chunk.start_line, chunk.end_line, chunk.parent) for chunk in cut(document, "a")] == [
        (1, 2, (1, 2)),
        (4, 4, (4, 4)),
    ]


def test_changed_readers_make_existing_chunks_stale() -> None:
    assert chunking_fingerprint(1) != chunking_fingerprint(2)
