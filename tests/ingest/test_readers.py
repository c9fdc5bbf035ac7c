"""Each kind of file gives its text with the place of each part, and what cannot be read says why and what to do."""

import io
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pypdf
import pytest

from onyx_jupyter.errors import DocumentUnreadable
from onyx_jupyter.ingest.document import Document, Place, place_from
from onyx_jupyter.ingest.readers import MAX_FILE_BYTES, read_document, reader_of
from tests.ingest.files import code_cell, encrypted_pdf, markdown_cell, notebook, parquet, pdf, printed

PAGE = b"""<!doctype html><html><head><title>Tide tables</title><script>track()</script></head><body>
<nav><a href="/">Home</a></nav><article><h1>Tides of Cuxhaven</h1><p>High water comes at 04:12 and 16:37 on the day of
the new moon, says the harbour office of the town.</p><p>Low water follows about six hours later, as it always has.</p>
</article></body></html>"""

PYTHON = '''"""Sails."""

import math

AREA = 12


# How far the boat heels.
@cached
def heel(wind):
    return math.tan(wind)


class Sail:
    def reef(self):
        return AREA
'''


class CountingFile(io.BytesIO):
    """Counts what is read of it."""

    read_bytes = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.read_bytes += len(data)
        return data


def read(name: str, data: bytes) -> Document:
    return read_document(name, io.BytesIO(data))


def refusal(name: str, data: bytes) -> str:
    with pytest.raises(DocumentUnreadable) as refused:
        read(name, data)
    return str(refused.value)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("Grüße aus Cuxhaven\r\nZeile 2".encode(), "Grüße aus Cuxhaven\nZeile 2"),
        (b"\xef\xbb\xbfwith a mark", "with a mark"),
        ("Grüße".encode("utf-16"), "Grüße"),
        ("Grüße".encode("cp1252"), "Grüße"),
    ],
)
def test_text_is_decoded_and_keeps_line_numbers(data: bytes, text: str) -> None:
    document = read("notes.txt", data)
    assert document.text == text
    assert document.own_lines


def test_markdown_title_is_front_matter_or_first_heading() -> None:
    assert read("a.md", b"---\ntitle: 'Log of the Ada'\n---\n# Day 1\n").title == "Log of the Ada"
    assert read("a.md", b"\nSome words\n\n# Day 1 #\n").title == "Day 1"
    assert read("a.md", b"No heading").title == ""


def test_page_yields_readable_text_without_scripts_and_menus() -> None:
    document = read("tides.html", PAGE)
    assert "Tide" in document.title
    assert "High water comes at 04:12" in document.text
    assert "track()" not in document.text
    assert not document.own_lines


def test_pdf_yields_one_section_per_page() -> None:
    document = read("manual.pdf", pdf("The bilge pump\nhas a fuse.", "", "The anchor (Bruce) weighs 10 kg."))
    assert [(section.place, section.text) for section in document.sections] == [
        (Place(page=1), "The bilge pump\nhas a fuse."),
        (Place(page=3), "The anchor (Bruce) weighs 10 kg."),
    ]


def test_out_of_memory_is_not_reported_as_broken_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(self: pypdf.PageObject) -> str:
        raise MemoryError

    monkeypatch.setattr(pypdf.PageObject, "extract_text", no_room)
    with pytest.raises(MemoryError):
        read("manual.pdf", pdf("The bilge pump has a fuse."))


def test_notebook_yields_markdown_code_and_output_under_headings() -> None:
    document = read(
        "tides.ipynb",
        notebook(
            markdown_cell("# Tides\n\nWhat the gauge says.\n\n## Data\n```\n# no heading\n```"),
            code_cell("gauge.mean()", printed("\x1b[31m4.2 m\x1b[0m")),
            code_cell(
                "plot()", {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": "<Figure>"}}
            ),
            markdown_cell("## Results"),
            code_cell(
                "1/0", {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "no", "traceback": ["x"]}
            ),
        ),
    )
    assert document.title == "Tides"
    assert [(str(section.place), section.heading, section.text) for section in document.sections[1:]] == [
        ("Cell 2 [c2]", "Tides › Data", "gauge.mean()\n\n4.2 m"),
        ("Cell 3 [c3]", "Tides › Data", "plot()\n\n<Figure>"),
        ("Cell 4 [c4]", "Tides", "## Results"),
        ("Cell 5 [c5]", "Tides › Results", "1/0\n\nZeroDivisionError: no"),
    ]


def test_table_yields_columns_with_types_and_first_rows() -> None:
    rows = "\n".join(f"2026-01-{day:02};{day};{day / 2};Cuxhaven" for day in range(1, 13))
    text = read("gauges.csv", f"day;number;height;town\n{rows}\n".encode()).text
    assert "Table gauges.csv: 12 rows, 4 columns." in text
    assert "- number: integer\n- height: number\n- town: text (Cuxhaven)" in text
    assert "| 2026-01-10 | 10 | 5.0 | Cuxhaven |" in text
    assert "2026-01-11" not in text


def test_table_without_header_keeps_first_row() -> None:
    text = read("numbers.tsv", b"1\t2\n3\t4\n").text
    assert "2 rows" in text
    assert "| 1 | 2 |" in text


def test_large_table_is_sampled() -> None:
    large = io.BytesIO(b"name,height\n" + b"Cuxhaven,4.2\n" * (MAX_FILE_BYTES // 10))
    text = read_document("large.csv", large).text
    assert "many rows, 2 columns" in text
    assert text.count("| Cuxhaven |") == 10


def test_parquet_yields_schema_and_first_rows() -> None:
    text = read("gauges.parquet", parquet({"town": ["Cuxhaven", None] * 20, "height": [4.2, 4.3] * 20})).text
    assert "40 rows, 2 columns" in text
    assert "- town: string\n- height: double" in text
    assert "| Cuxhaven | 4.2 |\n|  | 4.3 |" in text


def test_only_beginning_of_large_parquet_is_read() -> None:
    large = CountingFile(parquet({"id": range(20_000), "noise": [os.urandom(1_000) for _ in range(20_000)]}))
    text = read_document("large.parquet", large).text
    assert "20000 rows, 2 columns" in text
    assert large.read_bytes < 5_000_000 < large.seek(0, 2)


def test_wide_parquet_shows_first_columns_even_with_duplicate_names() -> None:
    columns = [pa.array([number]) for number in range(40)]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, ["a", "b", "a", *(f"c{number}" for number in range(3, 40))]), out)
    text = read("wide.parquet", out.getvalue()).text
    assert "40 columns" in text
    assert "| a | b | a | c3 |" in text
    assert f"| {' | '.join(map(str, range(30)))} |\n" in f"{text}\n"
    assert "- c39: int64" in text


def test_python_is_split_at_definitions_with_preceding_comments() -> None:
    document = read("sails.py", PYTHON.encode())
    assert document.own_lines
    assert document.text == PYTHON
    assert [(section.heading, section.text.split("\n")[0]) for section in document.sections] == [
        ("", '"""Sails."""'),
        ("heel", "# How far the boat heels."),
        ("Sail", "class Sail:"),
    ]


@pytest.mark.parametrize(
    ("name", "source", "headings"),
    [
        (
            "a.ts",
            "import x\n\nexport async function reef(a: number) {\n}\n\nexport class Sail {\n}\n",
            ["", "reef", "Sail"],
        ),
        ("a.go", "package a\n\nfunc (s *Sail) Reef() {\n}\n\ntype Mast struct {\n}\n", ["", "Reef", "Mast"]),
        ("a.rs", "/// Lowers.\npub(crate) fn reef() {\n}\nimpl Sail {\n}\n", ["reef", "Sail"]),
        ("a.r", "x <- 1\nreef <- function(a) {\n}\n", ["", "reef"]),
        ("a.sh", "set -e\nreef() {\n}\n", ["", "reef"]),
        ("a.sql", "SELECT 1;\nCREATE TABLE IF NOT EXISTS sails (id int);\n", ["", "sails"]),
        ("broken.py", "def reef(:\n    pass\n", ["reef"]),
    ],
)
def test_other_code_is_split_at_likely_definitions(name: str, source: str, headings: list[str]) -> None:
    document = read(name, source.encode())
    assert [section.heading for section in document.sections] == headings
    assert document.text == source


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("photo.txt", b"\x89PNG\0\0\0", "binary file"),
        ("empty.md", b" \n\n", "no text"),
        ("locked.pdf", encrypted_pdf("secret"), "encrypted. Save a copy without a password"),
        ("scan.pdf", pdf(""), "OCR"),
        ("broken.pdf", b"%PDF-1.4 and nothing else", "PDF"),
        ("broken.ipynb", b"{", "not JSON"),
        ("list.ipynb", b"[]", "no cells"),
        ("broken.parquet", b"PAR1....PAR1", "table"),
        ("broken.parquet", b"PAR1" + b"\xff" * 8 + b"\x08\0\0\0PAR1", "table"),
        ("one-line.csv", b"a" * 200_000, "not a table"),
        ("script.html", b"<html><script>x()</script></html>", "no text"),
        ("large.txt", b"a" * (MAX_FILE_BYTES + 1), "the limit is 50 MB. Split it"),
        ("long.log", b"line\n" * 1_000_000, "1000001 lines"),
    ],
)
def test_unreadable_file_says_what_is_wrong_and_what_to_do(name: str, data: bytes, says: str) -> None:
    assert says in refusal(name, data)


def test_unknown_types_have_no_reader_and_names_without_suffix_are_text() -> None:
    assert reader_of("a.zip") is None
    assert reader_of("README") is reader_of("notes.xyz".removesuffix(".xyz"))
    assert reader_of("A.PDF") is reader_of("b.pdf")


@pytest.mark.parametrize("place", [Place(page=3), Place(cell=2), Place(cell=2, cell_id="a]b")])
def test_location_is_parsed_back_from_its_text(place: Place) -> None:
    assert place_from(str(place)) == place
    assert place_from("Pages") is None
