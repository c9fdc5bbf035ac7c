from pathlib import Path

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.memory.bootstrap import BOOTSTRAP_FILES
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.templates import install_templates, non_template_lines
from onyx_jupyter.testing.fake_clock import FakeClock

TEMPLATES = Path(__file__).parents[2] / "workspace"


async def test_new_workspace_fills_prompt(tmp_path: Path) -> None:
    install_templates(TEMPLATES, tmp_path)
    found = await MemoryFiles(tmp_path, FakeClock()).bootstrap_files()
    assert tuple(file.name for file in found) == BOOTSTRAP_FILES
    assert found[0].text.count("\n") <= 30
    assert sum(file.size for file in found) < 6000


async def test_every_section_of_memory_template_accepts_a_line(tmp_path: Path) -> None:
    install_templates(TEMPLATES, tmp_path)
    sections = [line[3:] for line in (TEMPLATES / "MEMORY.md").read_text().splitlines() if line.startswith("## ")]
    assert sections
    for section in sections:
        await MemoryFiles(tmp_path, FakeClock()).write("- A line", f"MEMORY.md#{section}")
    lines = (tmp_path / "MEMORY.md").read_text().splitlines()
    assert [lines[at - 2] for at, line in enumerate(lines) if line == "- A line"] == [f"## {name}" for name in sections]


def test_rules_name_only_existing_tools() -> None:
    names = {tool.name for tool in all_tools()} | {"baseHash"}
    text = (TEMPLATES / "AGENTS.md").read_text()
    mentioned = {part for part in text.split("`")[1::2] if part.replace("_", "").isalpha()}
    assert mentioned <= names


def test_heartbeat_template_is_empty() -> None:
    text = (TEMPLATES / "HEARTBEAT.md").read_text().strip()
    assert text.startswith("<!--")
    assert text.endswith("-->")


def test_user_text_is_distinguished_from_template(tmp_path: Path) -> None:
    template = TEMPLATES / "MEMORY.md"
    text = template.read_text("utf-8")
    assert non_template_lines(template, text) == ""
    assert non_template_lines(template, text.replace("## Projects", "- Prefers tea\n\n## Projects")) == "- Prefers tea"
    assert non_template_lines(tmp_path / "none.md", text) == text
