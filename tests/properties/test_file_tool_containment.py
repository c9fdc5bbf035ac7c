"""What file tools can reach, over generated paths with links, `..`, prefixes and any characters."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.errors import OnyxError
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.registry import ToolRegistry

SECRET = "secret-of-somebody-else"
UNTOLD = "name-that-no-listing-tells"
PARTS = st.sampled_from(
    [
        "..",
        ".",
        "",
        "a",
        "sub",
        "out",
        "in",
        "file_out",
        "loop",
        "home",
        "up",
        "workspace",
        "onyx.json",
        "x.md",
        "é\u0301",
    ]
)
PATHS = st.builds(
    lambda prefix, parts, tail: prefix + "/".join([*parts, tail]),
    st.sampled_from(["", "/", "onyx:", "onyx:/", "{root}/", "{workspace}/", "{outside}/", "//", "./", "~/"]),
    st.lists(PARTS, max_size=5),
    st.one_of(PARTS, st.text(max_size=6)),
)
CALLS = st.one_of(
    st.builds(lambda path: ("read", {"path": path}), PATHS),
    st.builds(lambda path: ("list", {"path": path}), PATHS),
    st.builds(lambda path: ("search", {"pattern": "e", "path": path}), PATHS),
    st.builds(lambda path: ("write", {"path": path, "content": "written"}), PATHS),
    st.builds(lambda path: ("edit", {"path": path, "oldText": SECRET[:-1], "newText": "edited"}), PATHS),
)
REGISTRY = ToolRegistry([tool for tool in all_tools() if tool.family == "fs"])


def test_every_file_tool_is_covered() -> None:
    assert set(REGISTRY.names) == {"read", "list", "search", "write", "edit"}


def world(base: Path) -> dict[str, Path]:
    """A served folder with ONYX_HOME inside it, its workspace, and a place outside, with links that try to lead out."""
    places = {"root": base / "root", "home": base / "root" / "home", "outside": base / "outside"}
    places["workspace"] = places["home"] / "workspace"
    for folder in (places["root"] / "sub", places["workspace"] / "sub", places["outside"] / "sub"):
        folder.mkdir(parents=True)
    for file in (
        places["outside"] / "x.md",
        places["outside"] / "sub" / "x.md",
        places["home"] / "onyx.json",
        places["home"] / UNTOLD,
    ):
        file.write_text(SECRET)
    for folder in (places["root"], places["root"] / "sub", places["workspace"]):
        (folder / "out").symlink_to(places["outside"])
        (folder / "file_out").symlink_to(places["outside"] / "x.md")
        (folder / "in").symlink_to(places["root"] / "sub")
        (folder / "up").symlink_to(places["home"])
        (folder / "loop").symlink_to(folder / "loop")
    return places


def snapshot(places: dict[str, Path]) -> dict[str, str]:
    """Everything that no file tool may change: outside, and ONYX_HOME without the workspace."""
    files = [
        *places["outside"].rglob("*"),
        *(p for p in places["home"].rglob("*") if places["workspace"] not in p.parents),
    ]
    return {str(file): file.read_text() if file.is_file() else "" for file in files}


def context(places: dict[str, Path]) -> ToolContext:
    return ToolContext(
        session_key="s",
        agent_id="main",
        run_id="r",
        call_id="c",
        workspace=places["workspace"],
        server_root=places["root"],
        paths=PathGuard(places["root"], places["workspace"], private=places["home"]),
        notebooks=None,  # type: ignore[arg-type]
        memory=MemoryFiles(places["workspace"], FakeClock()),
        clock=None,  # type: ignore[arg-type]
        timeout_s=60,
        max_output_bytes=100_000,
        progress=lambda line: None,
    )


@given(call=CALLS)
def test_file_tools_never_access_anything_outside(call: tuple[str, dict[str, Any]]) -> None:
    """Property 5: Workspace path containment."""
    name, arguments = call
    with tempfile.TemporaryDirectory() as base:
        places = world(Path(base).resolve())
        before = snapshot(places)
        for place, path in places.items():
            arguments["path"] = arguments["path"].replace("{" + place + "}", str(path))

        said = asyncio.run(_said(name, arguments, context(places)))
        assert snapshot(places) == before
        assert SECRET not in said
        assert UNTOLD not in said


async def _said(name: str, arguments: dict[str, Any], surroundings: ToolContext) -> str:
    """All that the person and the model get to see of the call."""
    try:
        tool, checked = REGISTRY.validate(ToolCall("1", name, arguments))
        shown = await tool.preview(checked, surroundings)
        result = await tool.call(checked, surroundings)
    except OnyxError as error:
        return str(error)
    return "".join([result.output, *(str(value) for key, value in shown.details.items() if key != "oldText")])
