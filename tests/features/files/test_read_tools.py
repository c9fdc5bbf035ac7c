import base64
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from onyx_jupyter.errors import PathNotAllowed, ToolError
from onyx_jupyter.features.files.read_tools import MAX_ENTRIES, MAX_IMAGE_BYTES, list_tool, read_tool
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.toolsets.context import ToolContext
from tests.features.tool_calls import ToolCalls

Make = Callable[..., ToolContext]
run = ToolCalls(read_tool, list_tool).run
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


async def test_text_has_line_numbers(make_context: Make) -> None:
    context = make_context()
    (context.server_root / "a.txt").write_bytes("one\r\n\ttwo\nthrée".encode())
    result = await run(context, "read", path="a.txt")
    assert result.output == "1\tone\n2\t\ttwo\n3\tthrée"
    assert (result.ok, result.truncated) == (True, False)


async def test_long_file_is_paged_completely(make_context: Make) -> None:
    context = make_context(max_result_chars=2_000)
    lines = [f"line {number} " + "x" * (number % 70) for number in range(1, 401)]
    (context.server_root / "long.txt").write_text("\n".join(lines) + "\n")
    seen: list[str] = []
    while len(seen) < len(lines):
        result = await run(context, "read", path="long.txt", **{"from": len(seen) + 1})
        assert len(result.output) <= 2_000
        page = [line for line in result.output.split("\n") if "\t" in line]
        assert [int(line.partition("\t")[0]) for line in page] == list(range(len(seen) + 1, len(seen) + len(page) + 1))
        seen += [line.partition("\t")[2] for line in page]
        if len(seen) < len(lines):
            assert f"of 400. Continue with from={len(seen) + 1}.]" in result.output
            assert result.truncated
    assert seen == lines


async def test_line_count_is_limited_by_request_and_file(make_context: Make) -> None:
    context = make_context()
    (context.server_root / "a.txt").write_text("a\nb\nc\nd\n")
    result = await run(context, "read", path="a.txt", lines=2, **{"from": 2})
    assert result.output == "2\tb\n3\tc\n[Lines 2 to 3 of 4. Continue with from=4.]"
    assert (await run(context, "read", path="a.txt", lines=9, **{"from": 4})).output == "4\td"
    with pytest.raises(ToolError, match="has 4 lines"):
        await run(context, "read", path="a.txt", **{"from": 5})
    (context.server_root / "empty").touch()
    assert (await run(context, "read", path="empty")).output == "empty is empty."


async def test_very_long_line_is_truncated_and_can_be_continued(make_context: Make) -> None:
    context = make_context(max_result_chars=4_000)
    line = "".join(f"<{number}>" for number in range(3_000))
    (context.server_root / "one.json").write_text(f"short\n{line}\nend\n")
    first = (await run(context, "read", path="one.json")).output
    assert "more characters]\n3\tend" in first
    assert "from=2, lines=1, column=2001" in first
    seen, column = "", 1
    while len(seen) < len(line):
        result = await run(context, "read", path="one.json", lines=1, column=column, **{"from": 2})
        assert len(result.output) <= 4_000
        seen += result.output.partition("\t")[2].partition(" [… ")[0].partition("\n")[0]
        column = len(seen) + 1
    assert seen == line


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
async def test_other_encodings_are_detected(make_context: Make, encoding: str) -> None:
    context = make_context()
    (context.server_root / "a.txt").write_bytes("größer\nals".encode(encoding))
    assert (await run(context, "read", path="a.txt")).output.startswith("1\tgrößer\n2\tals")


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0" + b"\0" * 9, "image/jpeg"),
        (b"GIF89a" + b"\0" * 9, "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
async def test_image_is_detected_whatever_its_name(make_context: Make, data: bytes, mime: str) -> None:
    context = make_context()
    (context.server_root / "plot.bin").write_bytes(data)
    (picture,) = (await run(context, "read", path="plot.bin")).attachments
    assert (picture.type, picture.mime_type, picture.name) == ("image", mime, "plot.bin")
    assert base64.b64decode(picture.data) == data


async def test_too_large_image_is_rejected_with_alternative(make_context: Make) -> None:
    context = make_context()
    with (context.server_root / "big.png").open("wb") as file:
        file.write(PNG)
        file.truncate(MAX_IMAGE_BYTES + 1)
    with pytest.raises(ToolError, match="Make a smaller copy"):
        await run(context, "read", path="big.png")


async def test_binary_file_is_named_and_not_shown(make_context: Make) -> None:
    context = make_context()
    for name, data, words in (("t.parquet", b"PAR1\x15\0", "Parquet table"), ("x", b"ab\0\x01", "binary file")):
        (context.server_root / name).write_bytes(data)
        assert words in (await run(context, "read", path=name)).output


async def test_notebook_is_left_to_notebook_tools_if_available(make_context: Make) -> None:
    context = make_context()
    for folder in (context.server_root, context.workspace):
        (folder / "n.ipynb").write_text(json.dumps({"cells": []}))
    with pytest.raises(ToolError, match=r"notebook_read with path 'n\.ipynb'"):
        await run(context, "read", path="n.ipynb")
    assert '"cells"' in (await run(context, "read", path="onyx:n.ipynb")).output


async def test_missing_path_lists_existing_ones(make_context: Make) -> None:
    context = make_context()
    (context.server_root / "sales.csv").touch()
    with pytest.raises(ToolError, match=r"Did you mean 'sales\.csv'"):
        await run(context, "read", path="sale.csv")
    with pytest.raises(ToolError, match="no folder 'nowhere'"):
        await run(context, "read", path="nowhere/a.txt")
    with pytest.raises(ToolError, match="is a folder"):
        await run(context, "read", path=".")
    os.mkfifo(context.server_root / "pipe")
    with pytest.raises(ToolError, match="a pipe"):
        await run(context, "read", path="pipe")
    with pytest.raises(ToolError, match="is a file"):
        await run(context, "list", path="sales.csv")


async def test_result_has_origin_of_text(make_context: Make) -> None:
    context = make_context()
    (context.server_root / "a.md").write_text("x")
    (context.workspace / "MEMORY.md").write_text("x")
    (context.workspace / "results" / "s").mkdir(parents=True)
    (context.workspace / "results" / "s" / "c.txt").write_text("x")
    outside = await run(context, "read", path="a.md")
    assert (outside.origin, outside.external) == ("outside", "file a.md")
    assert (await run(context, "read", path="onyx:MEMORY.md")).origin == "memory"
    assert (await run(context, "read", path="onyx:results/s/c.txt")).origin == "outside"


async def test_folders_come_before_files_with_sizes(make_context: Make, tmp_path: Path) -> None:
    context = make_context()
    root = context.server_root
    for name in ("src", "Data"):
        (root / name).mkdir()
    (root / "b.csv").write_bytes(b"x" * 2_500)
    (root / "A.txt").write_bytes(b"x")
    (root / "away").symlink_to(tmp_path)
    (root / "two\nlines").touch()
    assert (await run(context, "list")).output.split("\n") == [
        "The server’s root: 2 folders, 4 files",
        "Data/",
        "src/",
        "A.txt  1 bytes",
        "away (link)",
        "b.csv  2.5 kB",
        r"'two\nlines'  0 bytes",
    ]
    with pytest.raises(PathNotAllowed):
        await run(context, "list", path="away")


async def test_large_folder_is_truncated_with_note(make_context: Make) -> None:
    context = make_context()
    for number in range(MAX_ENTRIES + 7):
        (context.server_root / f"{number:04}").touch()
    result = await run(context, "list")
    assert len(result.output.split("\n")) == MAX_ENTRIES + 2
    assert "[7 more are left out." in result.output
    assert result.truncated


async def test_in_onyx_home_only_own_workspace_is_readable(make_context: Make, tmp_path: Path) -> None:
    root = tmp_path / "root"
    home = root / ".config" / "onyx"
    workspace = home / "workspace"
    for folder in (workspace, home / "workspace-other", home / "sessions"):
        folder.mkdir(parents=True)
    for file in (home / "onyx.json", home / "workspace-other" / "SOUL.md", workspace / "SOUL.md"):
        file.write_text("secret")
    (root / "link").symlink_to(home / "onyx.json")
    (workspace / "up").symlink_to(home)
    context = make_context(workspace=workspace, paths=PathGuard(root, workspace, private=home))
    assert (await run(context, "read", path="onyx:SOUL.md")).output == "1\tsecret"
    hidden = [".config/onyx/onyx.json", "link", "onyx:../onyx.json", "onyx:up/onyx.json"]
    hidden += [".config/onyx/workspace-other/SOUL.md", str(home / "onyx.json")]
    for path in hidden:
        with pytest.raises(PathNotAllowed, match="belongs to Onyx itself"):
            await run(context, "read", path=path)
    with pytest.raises(PathNotAllowed):
        await run(context, "list", path=".config/onyx")
