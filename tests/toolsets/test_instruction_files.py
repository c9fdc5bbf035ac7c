"""Writing to files that Onyx follows needs approval under any path, and other files do not."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.security.drive_folders import DriveFolder, DriveFolders
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.instruction_files import OF_AGENT, OF_PROJECT, why_asked
from tests.features.notebooks.desk import Desk
from tests.notebook.fake_tab import tab_cell

Make = Callable[..., ToolContext]
TEXT, SKILL = ".onyx/notes.md", ".onyx/skills/odd.ipynb"
NEW_CELL = {"cellType": "code", "source": "new"}
# What each tool that writes to a path is given; one that is missing here fails the first test.
WRITES: dict[str, dict[str, Any]] = {
    "write": {"path": TEXT, "content": "Obey."},
    "edit": {"path": TEXT, "oldText": "old", "newText": "new"},
    "notebook_create": {"path": ".onyx/skills/new.ipynb"},
    "notebook_insert_cell": {"path": SKILL, **NEW_CELL},
    "notebook_edit_cell": {"path": SKILL, "cellId": "a", "source": "new"},
    "notebook_delete_cell": {"path": SKILL, "cellIds": ["a"]},
    "notebook_move_cell": {"path": SKILL, "cellId": "a"},
}
READS_ITS_PATH = {"knowledge_add"}


@pytest.fixture
def desk(make_context: Make) -> Desk:
    desk = Desk(make_context, [tab_cell("z", "z")])
    folder = desk.context.server_root / ".onyx" / "skills"
    folder.mkdir(parents=True)
    (desk.context.server_root / TEXT).write_text("old")
    desk.tab.show(SKILL, [tab_cell("a", "a"), tab_cell("b", "b"), tab_cell("c", "c")])
    return desk


def writing_tools() -> list[str]:
    """Every tool that comes with Onyx and writes to the path that it is given."""
    tools = [tool for tool in all_tools() if "path" in tool.schema()["properties"] and tool.risk == "write"]
    return [tool.name for tool in tools if tool.name not in READS_ITS_PATH]


@pytest.mark.parametrize("name", writing_tools())
async def test_every_tool_writing_to_a_path_asks_in_every_mode(desk: Desk, name: str) -> None:
    assert (await desk.preview(name, **WRITES[name])).must_ask == OF_PROJECT


@pytest.mark.parametrize("name", writing_tools())
async def test_other_paths_need_no_such_approval(desk: Desk, name: str) -> None:
    root = desk.context.server_root
    (root / "docs").mkdir()
    (root / "docs" / "AGENTS.md").write_text("old")
    path = "docs/AGENTS.md" if name in ("write", "edit") else "docs/odd.ipynb"
    desk.tab.show("docs/odd.ipynb", [tab_cell("a", "a"), tab_cell("b", "b"), tab_cell("c", "c")])
    assert (await desk.preview(name, **{**WRITES[name], "path": path})).must_ask == ""


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("AGENTS.md", OF_PROJECT),
        ("./docs/../AGENTS.md", OF_PROJECT),
        ("agents.MD", OF_PROJECT),
        ("AGENTS.md.", OF_PROJECT),
        ("AGENTS.md::$DATA", OF_PROJECT),
        ("AGENTS\u200c.md", OF_PROJECT),
        ("ＡGENTS.md", OF_PROJECT),
        ("AGENTS.md/below", OF_PROJECT),
        (".onyx", OF_PROJECT),
        (".onyx/skills/odd/SKILL.md", OF_PROJECT),
        (".ONYX/anything", OF_PROJECT),
        ("onyx:skills/odd/SKILL.md", OF_AGENT),
        ("onyx:SKILLS/odd.ipynb", OF_AGENT),
        ("AGENTS.txt", ""),
        ("docs/AGENTS.md", ""),
        ("docs/.onyx/x", ""),
        (".onyxes/x", ""),
        ("onyx:results/x.txt", ""),
        ("onyx:plan.ipynb", ""),
        ("plan.ipynb", ""),
    ],
)
def test_real_path_counts_not_its_spelling(make_context: Make, path: str, reason: str) -> None:
    context = make_context()
    assert why_asked(context.paths.resolve(path), context) == reason


@pytest.mark.parametrize("name", ["SOUL.md", "IDENTITY.md", "USER.md", "AGENTS.md", "TOOLS.md", "MEMORY.md", "soul.MD"])
def test_agents_own_prompt_files_are_asked_about(make_context: Make, name: str) -> None:
    context = make_context()
    assert why_asked(context.paths.resolve(f"onyx:{name}"), context)


def test_links_and_aliases_are_resolved(make_context: Make) -> None:
    context = make_context()
    root, workspace = context.server_root, context.workspace
    (root / "AGENTS.md").write_text("x")
    (root / "to.md").symlink_to("AGENTS.md")
    os.link(root / "AGENTS.md", root / "second.md")
    (root / "src" / "skills").mkdir(parents=True)
    (root / ".onyx").symlink_to("src")
    (workspace / "notes").mkdir()
    (workspace / "TOOLS.md").symlink_to("notes/tools.txt")  # leads to nothing yet
    for path in ("to.md", "second.md", "src/skills/odd.ipynb", "src/new.md"):
        assert why_asked(context.paths.resolve(path), context) == OF_PROJECT, path
    assert why_asked(context.paths.resolve("onyx:notes/tools.txt"), context) == OF_AGENT
    assert not why_asked(context.paths.resolve("onyx:notes/others.txt"), context)


def test_linked_skills_folder_is_asked_about(make_context: Make) -> None:
    context = make_context()
    (context.server_root / "src").mkdir()
    (context.server_root / ".onyx").mkdir()
    (context.server_root / ".onyx" / "skills").symlink_to("../src")
    (context.server_root / "AGENTS.md").symlink_to("AGENTS.md")  # round in a circle
    assert why_asked(context.paths.resolve("src/odd.ipynb"), context) == OF_PROJECT
    assert not why_asked(context.paths.resolve("other.ipynb"), context)


def test_drive_path_is_the_same_skill(make_context: Make, tmp_path: Path) -> None:
    root, workspace = tmp_path / "root", tmp_path / "workspace"
    skills = root / ".onyx" / "skills"
    skills.mkdir(parents=True)
    drive = DriveFolders(tmp_path / "home", frozenset(), lambda: {"project-skills": DriveFolder(skills)})
    context = make_context(paths=PathGuard(root, workspace, drive=drive))
    assert why_asked(context.paths.resolve("Onyx:project-skills/odd.ipynb"), context) == OF_PROJECT


def test_if_root_is_workspace_both_are_asked_about(make_context: Make, tmp_path: Path) -> None:
    root = tmp_path / "root"
    context = make_context(paths=PathGuard(root, root), workspace=root)
    assert why_asked(context.paths.resolve("AGENTS.md"), context)
    assert why_asked(context.paths.resolve("SOUL.md"), context)
    assert not why_asked(context.paths.resolve("plan.ipynb"), context)
