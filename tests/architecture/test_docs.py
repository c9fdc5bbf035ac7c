"""The documentation matches the code: tables, examples, keys, links, commands."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.app.features import EVENTS, FEATURES, OPERATIONS
from onyx_jupyter.config.load import load
from onyx_jupyter.config.schema import defaults
from onyx_jupyter.config.sections import with_sections

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
SECURITY = ROOT / "SECURITY.md"
PAGES = sorted([README, SECURITY, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
EXAMPLES = [
    pytest.param(example, id=f"{page.name}-{number}")
    for page in PAGES
    for number, example in enumerate(re.findall(r"^```json5\n(.*?)^```", page.read_text("utf-8"), re.M | re.S), 1)
]
OTHER_TARGETS = re.compile(r"https?:|mailto:|#")


def listed_keys() -> list[str]:
    """Every key by its whole path, as the reference has it."""
    reference = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    return re.findall(r"^\| `([a-z]+[.\[][^`]+)` \|", reference, re.M)


@pytest.mark.parametrize("script", ["tool_table.py", "config_reference.py"])
def test_generated_parts_of_pages_are_current(script: str) -> None:
    command = [sys.executable, str(ROOT / "scripts" / script), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_readme_and_pages_contain_configuration_examples() -> None:
    assert any(str(example.id).startswith("README") for example in EXAMPLES)
    assert len(EXAMPLES) > 5


@pytest.mark.parametrize("example", EXAMPLES)
def test_configuration_examples_load(example: str, tmp_path: Path) -> None:
    path = tmp_path / "onyx.json"
    path.write_text(example, encoding="utf-8")
    variables = dict.fromkeys(re.findall(r"\$\{(\w+)\}", example), "a-value")
    sections = {feature.name: feature.settings for feature in FEATURES if feature.settings is not None}
    assert load(example, path, variables, with_sections(sections)).problems == ()


@pytest.mark.parametrize("document", PAGES, ids=lambda path: path.name)
def test_pages_name_only_existing_keys(document: Path) -> None:
    keys = [key.replace("[]", "") for key in listed_keys()]
    sections = "|".join({key.partition(".")[0] for key in keys})
    named = re.findall(rf"`((?:{sections})(?:\[\])?\.[\w.<>\[\]]+)`", document.read_text("utf-8"))
    named = [name for name in named if name not in OPERATIONS and name not in EVENTS]
    assert not [name for name in named if not any(f".{name.replace('[]', '')}." in f".{key}." for key in keys)]


@pytest.mark.parametrize("document", PAGES, ids=lambda path: path.name)
def test_defaults_on_pages_match_configuration(document: Path) -> None:
    given = re.findall(r"`([a-z]\w*(?:\.\w+)+)`(?:\s\w+)?\s\(([\d,]+)( s| minutes)?\b", document.read_text("utf-8"))
    factors = {"": 1, " s": 1000, " minutes": 60_000}
    for key, number, unit in given:
        assert default_of(key) == int(number.replace(",", "")) * factors[unit], f"{document.name}: {key}"


def test_pages_contain_defaults() -> None:
    assert default_of("runtime.maxTurns") == 20
    assert "`runtime.maxTurns` (20)" in (ROOT / "docs" / "limits.md").read_text("utf-8")


def default_of(key: str) -> object:
    value: Any = defaults()
    for part in key.split("."):
        value = value[part]
    return value


@pytest.mark.parametrize("document", PAGES, ids=lambda path: path.name)
def test_links_lead_to_existing_files_and_headings(document: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", document.read_text("utf-8"), flags=re.S))
    for target in (link for link in links if not OTHER_TARGETS.match(link)):
        path, _, heading = target.partition("#")
        there = document.parent / path
        assert there.exists(), f"{document.name}: {target} is not there"
        assert not heading or heading in headings(there), f"{document.name}: {target} has no such heading"


def headings(page: Path) -> set[str]:
    """The anchors of a page, as a forge makes them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", [README, ROOT / "CONTRIBUTING.md"], ids=lambda path: path.name)
def test_make_targets_named_on_pages_exist(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    named = set(re.findall(r"(?:`|^    |&& |^)make ([a-z-]+)", document.read_text("utf-8"), re.M))
    assert named
    assert named <= targets


def test_decisions_are_numbered_consecutively_in_names_and_titles() -> None:
    numbers = [int(page.name.split("-")[0]) for page in DECISIONS]
    titles = [page.read_text("utf-8").split(".")[0] for page in DECISIONS]
    assert numbers == list(range(1, len(DECISIONS) + 1))
    assert titles == [f"# {number}" for number in numbers]


def test_every_page_is_linked_from_readme() -> None:
    text = README.read_text("utf-8")
    missing = [page.name for page in (ROOT / "docs").glob("*.md") if f"(docs/{page.name})" not in text]
    assert not missing


def test_changelog_has_no_duplicate_entries() -> None:
    unreleased = (ROOT / "CHANGELOG.md").read_text("utf-8").partition("\n## Unreleased\n")[2].partition("\n## ")[0]
    beginnings = [entry[:40] for entry in re.findall(r"^- (.*)$", unreleased, re.M)]
    assert len(beginnings) > 10
    assert sorted(set(beginnings)) == sorted(beginnings)


def test_tests_named_in_security_page_exist() -> None:
    named = re.findall(r"`(tests/[\w/.]+)`", SECURITY.read_text("utf-8"))
    assert len(named) > 30
    assert [name for name in named if not (ROOT / name).exists()] == []
