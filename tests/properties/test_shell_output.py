import asyncio
import shlex
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.clock import SystemClock
from onyx_jupyter.features.processes.exec_tool import make_exec_tool
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.messages import ToolCall, ToolResult
from onyx_jupyter.processes.output_buffer import OutputBuffer
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.registry import ToolRegistry

TEXTS = st.text(
    st.characters(blacklist_categories=("Cs",), blacklist_characters="\0\r\n"), min_size=1, max_size=60
).filter(lambda text: bool(text.strip()))


def run(command: str, folder: Path, limit_bytes: int) -> ToolResult:
    clock: Any = SystemClock()
    context = ToolContext(
        session_key="s",
        agent_id="main",
        run_id="r",
        call_id="c",
        workspace=folder,
        server_root=folder,
        paths=PathGuard(folder, folder),
        notebooks=None,  # type: ignore[arg-type]
        memory=MemoryFiles(folder, clock),
        clock=clock,
        timeout_s=60,
        max_output_bytes=limit_bytes,
        progress=lambda line: None,
    )
    tool, arguments = ToolRegistry([make_exec_tool()]).validate(ToolCall("1", "exec", {"command": command}))
    return asyncio.run(tool.call(arguments, context))


@given(out=st.lists(TEXTS, max_size=4), err=st.lists(TEXTS, max_size=4), code=st.integers(0, 255))
def test_both_streams_are_complete_and_in_order(out: list[str], err: list[str], code: int) -> None:
    """Property 16: Shell command output capture."""
    lines = [f"printf '%s\\n' {shlex.quote(text)}" for text in out]
    lines += [f"printf '%s\\n' {shlex.quote(text)} >&2" for text in err]
    with tempfile.TemporaryDirectory() as folder:
        result = run("\n".join([*lines, f"exit {code}"]), Path(folder), 100_000)
    stdout, stderr = "\n".join(out), "\n".join(err)
    expected = [f"stdout:\n{stdout}" if err else stdout] if out else []
    expected += [f"stderr:\n{stderr}"] if err else []
    assert result.output == "\n".join([*expected, f"exit code {code}"])
    assert result.exit_code == code
    assert result.ok == (code == 0)
    assert not result.truncated


@given(chunks=st.lists(st.binary(max_size=40)), limit=st.integers(0, 100))
def test_truncated_stream_is_its_head_and_tail_within_limit(chunks: list[bytes], limit: int) -> None:
    """Property 16: Shell command output capture."""
    whole = b"".join(chunks)
    buffer = OutputBuffer(limit)
    for chunk in chunks:
        buffer.add(chunk)
    text = buffer.text(limit)
    if len(whole) <= limit:
        assert text == whole.decode("utf-8", "replace")
        return
    head, mark, tail = text.partition("\n[… ")
    assert mark
    note, _, tail = tail.partition(" bytes left out …]\n")
    left_out = int(note)
    assert 0 < left_out <= len(whole)
    assert left_out >= len(whole) - limit
    assert whole.decode("utf-8", "replace").startswith(head.rstrip("\ufffd"))
    assert len(head.encode("utf-8", "replace")) <= 3 * limit
    assert len(tail.encode("utf-8", "replace")) <= 3 * limit
