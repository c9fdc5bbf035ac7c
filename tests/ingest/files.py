"""Real files of each kind, made where a test wants them."""

import io
import json
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import pypdf


def pdf(*pages: str) -> bytes:
    """One that shows a line of text for each line of each page."""
    return _pdf([_content(page.split("\n")) for page in pages], range(len(pages)))


def endless_pdf() -> bytes:
    """A small one that takes minutes to read: thousands of pages that all show the same long content."""
    return _pdf([_content(["a"] * 5_000)], [0] * 4_000)


def _content(lines: Sequence[str]) -> bytes:
    shown = "".join(f"({_escaped(line)}) Tj T* " for line in lines)
    return f"BT /F1 12 Tf 14 TL 72 720 Td {shown} ET".encode("latin-1")


def _pdf(contents: Sequence[bytes], pages: Sequence[int]) -> bytes:
    """Each page shows one of the contents. Source: ISO 32000-1, 7.5 (file structure)."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    first_content = len(objects) + 1
    objects += [b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content) for content in contents]
    first_page = len(objects) + 1
    objects += [
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
        b"/Contents %d 0 R >>" % (first_content + shown)
        for shown in pages
    ]
    kids = [b"%d 0 R" % (first_page + number) for number in range(len(pages))]
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, 2)
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % offset for offset in offsets))
    out.write(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))
    return out.getvalue()


def encrypted_pdf(*pages: str) -> bytes:
    """One that asks for a password."""
    writer = pypdf.PdfWriter(io.BytesIO(pdf(*pages)))
    writer.encrypt("open sesame", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def parquet(columns: Mapping[str, Sequence[Any]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), out)
    return out.getvalue()


def notebook(*cells: Mapping[str, Any]) -> bytes:
    """nbformat 4.5; a cell's id is its number unless it has one."""
    whole = [
        {"id": f"c{number}", "metadata": {}, **({"outputs": [], "execution_count": None} | cell), **cell}
        for number, cell in enumerate(cells, start=1)
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": whole}).encode()


def markdown_cell(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source.splitlines(keepends=True)}


def code_cell(source: str, *outputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def printed(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def swelling_parquet() -> bytes:
    """A few kilobytes that hold a row of three values of 200 MB each."""
    out = io.BytesIO()
    table = pa.table(dict.fromkeys("abc", pa.array(["x" * 200_000_000], pa.large_string())))
    with pq.ParquetWriter(out, table.schema, compression="zstd", use_dictionary=False, write_statistics=False) as file:
        file.write_table(table)
    return out.getvalue()


def opened(data: bytes) -> BinaryIO:
    """A file on the disk that holds that, without a name."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - whoever asks for it closes it, or its end does
    file.write(data)
    file.seek(0)
    return file
