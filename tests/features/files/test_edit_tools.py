import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.clock import SystemClock
from onyx_jupyter.errors import InvalidArguments, MemoryConflict, PathNotAllowed, ToolError
from onyx_jupyter.features.files.edit_tools import edit_tool, write_tool
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.security import open_beneath as beneath
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.storage.versions import VersionStore
from onyx_jupyter.toolsets.context import ToolContext
from tests.features.tool_calls import ToolCalls
from tests.memory.interrupted import InterruptedStore

Make = Callable[..., ToolContext]
CALLS = ToolCalls(write_tool, edit_tool)
run, preview = CALLS.run, CALLS.preview


async def test_new_file_gets_folders_and_default_permissions(make_context: Make) -> None:
    context = make_context()
    umask = os.umask(0o022)
    try:
        result = await run(context, "write", path="a/b/new.txt", content="one\ntwo")
        await run(context, "write", path="onyx:notes/x.md", content="mine")
    finally:
        os.umask(umask)
    file, own = context.server_root / "a" / "b" / "new.txt", context.workspace / "notes" / "x.md"
    assert file.read_bytes() == b"one\ntwo"
    assert result.output == "Wrote the new file a/b/new.txt: 2 lines, 7 bytes."
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert [stat.S_IMODE(place.stat().st_mode) for place in (own, own.parent)] == [0o600, 0o700]
    assert [entry.name for entry in file.parent.iterdir()] == ["new.txt"]


async def test_existing_file_keeps_permissions_and_is_replaced_atomically(
    make_context: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = make_context()
    file = context.server_root / "run.sh"
    file.write_text("old")
    file.chmod(0o751)
    await run(context, "write", path="run.sh", content="new")
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("new", 0o751)

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(beneath.os, "fsync", full_disk)
    with pytest.raises(Exception, match="No space left"):
        await run(context, "write", path="run.sh", content="never")
    assert file.read_text() == "new"
    assert [entry.name for entry in file.parent.iterdir()] == ["run.sh"]


async def test_write_protected_file_is_unchanged(make_context: Make) -> None:
    context = make_context()
    file = context.server_root / "locked.txt"
    file.write_text("old")
    file.chmod(0o444)
    with pytest.raises(ToolError, match="permission denied"):
        await run(context, "write", path="locked.txt", content="new")
    assert file.read_text() == "old"


@pytest.mark.parametrize("path", ["n.ipynb", "N.IPYNB", "link.txt", "onyx:n.ipynb"])
@pytest.mark.parametrize("tool", ["write", "edit"])
async def test_notebooks_are_left_to_notebook_tools(make_context: Make, path: str, tool: str) -> None:
    context = make_context()
    for name in ("n.ipynb", "N.IPYNB"):
        (context.server_root / name).write_text("{}")
    (context.server_root / "link.txt").symlink_to(context.server_root / "n.ipynb")
    more = {"content": "x"} if tool == "write" else {"oldText": "{", "newText": "x"}
    for do in (run, preview):
        with pytest.raises(ToolError, match="notebook_edit_cell"):
            await do(context, tool, path=path, **more)
    assert (context.server_root / "n.ipynb").read_text() == "{}"


async def test_folder_is_not_a_file(make_context: Make) -> None:
    context = make_context()
    (context.server_root / "d").mkdir()
    (context.server_root / "f").write_text("x")
    for path in ("d", "new/", ""):
        with pytest.raises(ToolError):
            await run(context, "write", path=path, content="x")
    with pytest.raises(ToolError, match="a part of the path is a file"):
        await run(context, "write", path="f/below", content="x")


async def test_preview_shows_changed_line_endings(make_context: Make) -> None:
    context = make_context()
    (context.server_root / "a.txt").write_bytes(b"one\r\ntwo\nthree\n")
    mixed = await preview(context, "write", path="a.txt", content="one\ntwo\r\nthree\n")
    assert mixed.details["diff"] == "@@ -1,3 +1,3 @@\n-one\r\n-two\n+one\n+two\r\n three"
    (context.server_root / "b.txt").write_bytes(b"one")
    windows = await preview(context, "write", path="b.txt", content="one\r\n")
    assert windows.details["lineEnds"] == "CRLF line ends"
    (context.server_root / "c.txt").write_bytes(b"")
    bare = await preview(context, "write", path="c.txt", content="one")
    assert bare.details["diff"].endswith("+one\n\\ The last line has no line end.")


async def test_preview_shows_new_content_or_exact_diff(make_context: Make) -> None:
    context = make_context()
    new = await preview(context, "write", path="a.txt", content="one\n")
    assert (new.summary, dict(new.details)) == ("Write the new file a.txt", {"path": "a.txt", "content": "one\n"})
    (context.server_root / "a.txt").write_bytes(b"".join(b"%d\r\n" % number for number in range(1, 21)))
    content = "".join(f"{number}\n" for number in range(1, 21)).replace("10\n", "ten\n")
    changed = await preview(context, "write", path="a.txt", content=content)
    assert changed.details == {
        "path": "a.txt",
        "diff": "@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13",
        "lineEnds": "CRLF line ends become LF line ends",
    }
    (context.server_root / "b.bin").write_bytes(b"\0\1")
    replaced = await preview(context, "write", path="b.bin", content="x")
    assert replaced.details["content"] == "x"
    assert "is not text" in replaced.details["replaces"]
    assert not (context.server_root / "new").exists()


async def test_preview_writes_nothing_and_detects_changes(make_context: Make) -> None:
    context = make_context()
    await preview(context, "write", path="deep/a.txt", content="x")
    assert list(context.server_root.iterdir()) == []
    (context.server_root / "a.txt").write_text("a\nb\nc\n")
    before = await preview(context, "edit", path="a.txt", oldText="b", newText="B")
    (context.server_root / "a.txt").write_text("A\nb\nc\n")
    after = await preview(context, "edit", path="a.txt", oldText="b", newText="B")
    assert before.details != after.details


async def test_one_passage_is_replaced_and_the_rest_stays(make_context: Make) -> None:
    context = make_context()
    file = context.server_root / "a.py"
    file.write_text("def f():\n    return 1\n\ndef g():\n    return 2\n")
    shown = await preview(context, "edit", path="a.py", oldText="    return 2", newText="    x = 3\n    return x")
    assert (
        shown.details["diff"]
        == "@@ -2,4 +2,5 @@\n     return 1\n \n def g():\n-    return 2\n+    x = 3\n+    return x"
    )
    result = await run(context, "edit", path="a.py", oldText="    return 2", newText="    x = 3\n    return x")
    assert file.read_text() == "def f():\n    return 1\n\ndef g():\n    x = 3\n    return x\n"
    assert result.output == "Edited a.py: the new text is in line 5 to 6."


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nB2\r\nc\r\n"),
        (b"a\nb\nc\r\n", b"a\nB\nB2\nc\r\n"),
        (b"\xef\xbb\xbfa\nb\nc", b"\xef\xbb\xbfa\nB\nB2\nc"),
        ("a\nb\nc\u00e9".encode("utf-16"), "a\nB\nB2\nc\u00e9".encode("utf-16")),
        (b"a\nb\nc\xe9\xff", b"a\nB\nB2\nc\xe9\xff"),
    ],
)
async def test_line_endings_and_encoding_are_kept(make_context: Make, before: bytes, after: bytes) -> None:
    context = make_context()
    (context.server_root / "a.txt").write_bytes(before)
    await run(context, "edit", path="a.txt", oldText="a\nb\n", newText="a\nB\nB2\n")
    assert (context.server_root / "a.txt").read_bytes() == after


async def test_text_outside_file_encoding_is_rejected(make_context: Make) -> None:
    context = make_context()
    (context.server_root / "a.txt").write_bytes(b"caf\xe9")
    with pytest.raises(ToolError, match="latin-1"):
        await run(context, "edit", path="a.txt", oldText="caf", newText="€")
    with pytest.raises(InvalidArguments, match="`content`"):
        await run(context, "write", path="a.txt", content="\ud800")
    assert (context.server_root / "a.txt").read_bytes() == b"caf\xe9"


async def test_multiple_matches_are_listed(make_context: Make) -> None:
    context = make_context()
    (context.server_root / "a.txt").write_text("x = 1\ny = 2\nx = 1\n")
    with pytest.raises(ToolError, match="occurs 2 times, starting in lines 1, 3"):
        await run(context, "edit", path="a.txt", oldText="x = 1", newText="x = 2")
    (context.server_root / "a.txt").write_text("aaa")
    with pytest.raises(ToolError, match="2 times"):
        await run(context, "edit", path="a.txt", oldText="aa", newText="b")
    assert (context.server_root / "a.txt").read_text() == "aaa"


async def test_without_match_nearest_passage_is_shown_with_difference(make_context: Make) -> None:
    context = make_context()
    source = "import os\n\ndef area(r):\n    return 3.14 * r * r\n\ndef edge(r):\n    return 2 * 3.14 * r\n"
    (context.server_root / "a.py").write_text(source)
    with pytest.raises(ToolError) as wrong:
        await run(context, "edit", path="a.py", oldText="def area(r):\n    return 3.15 * r * r", newText="x")
    assert "The nearest is lines 3 to 4:\n3\tdef area(r):\n4\t    return 3.14 * r * r\n" in str(wrong.value)
    assert "-     return 3.15 * r * r\n+     return 3.14 * r * r" in str(wrong.value)
    with pytest.raises(ToolError, match="Only whitespace differs") as spaces:
        await run(context, "edit", path="a.py", oldText="def edge(r):\n\treturn 2 * 3.14 * r", newText="x")
    assert "- →return·2·*·3.14·*·r\n+ ····return·2·*·3.14·*·r" in str(spaces.value)
    with pytest.raises(ToolError, match="nor anything like it"):
        await run(context, "edit", path="a.py", oldText="@@@@@@@@", newText="x")
    with pytest.raises(InvalidArguments, match="same"):
        await run(context, "edit", path="a.py", oldText="os", newText="os")
    assert (context.server_root / "a.py").read_text() == source


@pytest.mark.parametrize("swapped", ["folder", "file"])
async def test_link_created_between_check_and_open_is_not_followed(
    make_context: Make, tmp_path: Path, swapped: str
) -> None:
    context = make_context()
    (context.server_root / "d").mkdir()
    (context.server_root / "d" / "a.txt").write_text("mine")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("theirs")

    class Swapping(PathGuard):
        """Somebody swaps right after the path was judged."""

        def resolve(self, path: str) -> Path:
            real = super().resolve(path)
            if swapped == "folder":
                (context.server_root / "d").rename(tmp_path / "moved")
                (context.server_root / "d").symlink_to(outside)
            else:
                (context.server_root / "d" / "a.txt").unlink()
                (context.server_root / "d" / "a.txt").symlink_to(outside / "a.txt")
            return real

    racing = make_context(paths=Swapping(context.server_root, context.workspace))
    with pytest.raises(Exception, match=r"could not be read|is a file or a link"):
        await run(racing, "edit", path="d/a.txt", oldText="theirs", newText="changed")
    assert (outside / "a.txt").read_text() == "theirs"


class Overtaken(MemoryFiles):
    """Somebody else writes MEMORY.md in the moment in which a tool is about to."""

    def writing(self, real: Path, content: bytes, **more: Any) -> Any:
        real.write_text("- tea\n- by hand\n")
        return super().writing(real, content, **more)


@pytest.mark.parametrize(
    ("tool", "arguments"), [("edit", {"oldText": "tea", "newText": "cocoa"}), ("write", {"content": "- cocoa\n"})]
)
async def test_memory_file_saved_meanwhile_is_not_overwritten(
    make_context: Make, tmp_path: Path, tool: str, arguments: dict[str, str]
) -> None:
    clock = SystemClock()
    versions = VersionStore(tmp_path / "versions", clock)
    context = make_context(memory=Overtaken(tmp_path / "workspace", clock, versions=versions))
    file = context.workspace / "MEMORY.md"
    file.write_text("- tea\n")
    with pytest.raises(MemoryConflict, match="Read it again"):
        await run(context, tool, path="onyx:MEMORY.md", **arguments)
    assert file.read_text() == "- tea\n- by hand\n"
    assert (await context.memory.versions("MEMORY.md"))[-1].size_bytes == file.stat().st_size
    await run(make_context(), tool, path="onyx:MEMORY.md", **arguments)
    assert "cocoa" in file.read_text()


@pytest.mark.parametrize("tool", ["edit", "write"])
async def test_save_just_before_memory_file_replacement_is_kept(make_context: Make, tmp_path: Path, tool: str) -> None:
    clock = SystemClock()
    versions = InterruptedStore(tmp_path / "versions", clock)
    context = make_context(memory=MemoryFiles(tmp_path / "workspace", clock, versions=versions))
    file = context.workspace / "MEMORY.md"
    file.write_text("- tea\n")
    versions.meanwhile = [lambda: file.write_text("- by hand\n")]
    arguments = {"content": "- cocoa\n"} if tool == "write" else {"oldText": "tea", "newText": "cocoa"}
    with pytest.raises(MemoryConflict):
        await run(context, tool, path="onyx:MEMORY.md", **arguments)
    assert file.read_text() == "- by hand\n"
    assert [path.name for path in context.workspace.iterdir() if path.name != ".memory.lock"] == ["MEMORY.md"]


async def test_memory_file_is_never_made_unreadable(make_context: Make) -> None:
    context = make_context()
    with pytest.raises(ToolError, match="NUL"):
        await run(context, "write", path="onyx:MEMORY.md", content="a\0b")
    with pytest.raises(ToolError, match="too large"):
        await run(context, "write", path="onyx:MEMORY.md", content="日" * 4_000_000)
    assert not (context.workspace / "MEMORY.md").exists()
    await run(context, "write", path="onyx:notes.txt", content="a\0b")


async def test_memory_file_too_large_for_versions_is_rejected_before_approval(make_context: Make) -> None:
    context = make_context()
    (context.workspace / "MEMORY.md").write_bytes(b"x" * 11_000_000)
    for do in (preview, run):
        with pytest.raises(ToolError, match="too large for a memory file"):
            await do(context, "write", path="onyx:MEMORY.md", content="new")
    assert (context.workspace / "MEMORY.md").stat().st_size == 11_000_000


async def test_nothing_is_written_outside(make_context: Make, tmp_path: Path) -> None:
    context = make_context()
    (context.server_root / "out").symlink_to(tmp_path)
    for path in ("../x", "out/x", str(tmp_path / "x"), "onyx:../x"):
        for do in (run, preview):
            with pytest.raises(PathNotAllowed):
                await do(context, "write", path=path, content="x")
    assert not (tmp_path / "x").exists()
