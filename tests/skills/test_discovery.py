"""Which skills there are, which of two counts, and why one cannot be used."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.skills import discovery
from onyx_jupyter.skills.discovery import Place, SkillFinder
from onyx_jupyter.skills.skill import MAX_SHOWN_CHARS, Listed, Skill, Source
from onyx_jupyter.skills.trust import TrustStore
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.skills.notebooks import cell, notebook, places, write_notebook, write_text_skill

KERNELS = {"python3": "python", "ir": "R"}


class Shelf:
    """The four places in a folder."""

    def __init__(self, folder: Path, environment: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.trust = TrustStore(folder / "trusted-skills.json", FakeClock())
        self.finder = SkillFinder(self.trust, environment or {}, lambda: KERNELS)

    def all(self) -> list[Listed]:
        return self.finder.find(places(self.folder))

    def named(self, name: str) -> list[Listed]:
        return [item for item in self.all() if item.skill.name == name]

    def one(self, name: str) -> Listed:
        (item,) = self.named(name)
        return item

    def trusted(self, name: str) -> None:
        self.trust.add(self.one(name).skill, "ada")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def test_no_location_has_to_exist(shelf: Shelf) -> None:
    assert shelf.all() == []


def test_nearest_location_wins_and_others_say_so(shelf: Shelf) -> None:
    for source in ("packaged", "home", "workspace", "project"):
        write_notebook(shelf.folder / source / "count.ipynb", description=f"From {source}.")
    found = shelf.named("count")
    assert [(item.skill.source, item.state) for item in found] == [
        ("project", "untrusted"),
        ("workspace", "shadowed"),
        ("home", "shadowed"),
        ("packaged", "shadowed"),
    ]
    assert "project" in (found[1].reason or "")


def test_broken_skill_hides_no_other_of_its_name(shelf: Shelf) -> None:
    (shelf.folder / "project").mkdir()
    (shelf.folder / "project" / "count.ipynb").write_text("{")
    write_notebook(shelf.folder / "home" / "count.ipynb")
    assert [item.state for item in shelf.named("count")] == ["broken", "untrusted"]


def test_notebook_metadata_or_first_raw_cell_describes_skill(shelf: Shelf) -> None:
    write_notebook(shelf.folder / "home" / "by-metadata.ipynb", description="One.")
    raw = cell("---\nname: by-cell\ndescription: Two.\nrequires:\n  env: [TOKEN]\n---", kind="raw")
    content = notebook([raw, cell("n: int = 3  # how many", "parameters")])
    (shelf.folder / "home" / "by-cell.ipynb").write_text(json.dumps(content))
    assert shelf.one("by-metadata").skill.description == "One."
    skill = shelf.one("by-cell").skill
    assert (skill.description, skill.requires.env, skill.problem) == ("Two.", ("TOKEN",), None)
    assert skill.parameters is not None
    assert [(item.name, item.default, item.description) for item in skill.parameters.items] == [("n", 3, "how many")]
    assert skill.tool == "skill_by_cell"


def test_text_skill_is_read_with_its_files(shelf: Shelf) -> None:
    write_text_skill(shelf.folder / "home" / "house-style", "Write plainly.", notes__words_md="Short ones.")
    skill = shelf.one("house-style").skill
    assert (skill.kind, skill.instructions, skill.files, skill.tool) == (
        "text",
        "Write plainly.",
        ("notes/words.md",),
        None,
    )
    assert "Short ones." in skill.text


MALFORMED: dict[str, Any] = {
    "no json": ("{", "JSON cannot be parsed"),
    "no object": ("[]", "not an object"),
    "old format": (json.dumps({"nbformat": 3, "worksheets": [], "metadata": {}}), "format 3"),
    "no format": (json.dumps({"cells": []}), "does not give its notebook format"),
    "no cells": (json.dumps({"nbformat": 4, "metadata": {}}), "malformed"),
    "odd cell": (json.dumps({"nbformat": 4, "metadata": {}, "cells": [{"cell_type": "code", "source": 5}]}), "malfor"),
    "does not describe itself": (json.dumps(notebook([cell("1")])), "does not describe itself"),
    "metadata no object": (json.dumps(notebook([cell("1")], "count")), "not an object with name"),
    "bad name": (json.dumps(notebook([cell("1")], {"name": "Count It", "description": "x"})), "not a valid skill name"),
    "taken name": (json.dumps(notebook([cell("1")], {"name": "read", "description": "x"})), "is taken"),
    "no description": (json.dumps(notebook([cell("1")], {"name": "odd"})), "no description"),
    "long description": (json.dumps(notebook([cell("1")], {"name": "odd", "description": "x" * 1025})), "1,025"),
    "bad yaml": (json.dumps(notebook([cell("name: [", kind="raw")])), "YAML cannot be read"),
    "bad needs": (
        json.dumps(notebook([cell("1")], {"name": "odd", "description": "x", "requires": {"python": [1]}})),
        "requires.python",
    ),
    "unknown need": (
        json.dumps(notebook([cell("1")], {"name": "odd", "description": "x", "requires": {"gpu": ["a"]}})),
        "'gpu'",
    ),
    "parameters that do not parse": (
        json.dumps(notebook([cell("n = = 3", "parameters")], {"name": "odd", "description": "x"})),
        "does not parse: line 1",
    ),
}


@pytest.mark.parametrize(("text", "reason"), MALFORMED.values(), ids=MALFORMED.keys())
def test_unusable_skill_is_listed_with_reason_and_hides_nothing(shelf: Shelf, text: str, reason: str) -> None:
    write_notebook(shelf.folder / "home" / "fine.ipynb")
    (shelf.folder / "home" / "odd.ipynb").write_text(text)
    broken = [item for item in shelf.all() if item.state == "broken"]
    assert [reason in (item.reason or "") for item in broken] == [True], broken
    assert shelf.one("fine").state == "untrusted"


TEXT_PROBLEMS = {
    "not yaml": ("Just words", "does not begin with YAML"),
    "other name": ("---\nname: other\ndescription: x\n---\n", "differs from its folder's name"),
    "not a mapping": ("---\n- a\n---\n", "not a mapping"),
    "no description": ("---\nname: odd\n---\n", "no description"),
    "constructing": ("---\nname: odd\ndescription: !!python/object/apply:os.system ['true']\n---\n", "YAML cannot be"),
}


@pytest.mark.parametrize(("text", "reason"), TEXT_PROBLEMS.values(), ids=TEXT_PROBLEMS.keys())
def test_unusable_skill_md_says_why(shelf: Shelf, text: str, reason: str) -> None:
    folder = write_text_skill(shelf.folder / "home" / "odd")
    (folder / "SKILL.md").write_text(text)
    item = shelf.one("odd")
    assert item.state == "broken"
    assert reason in (item.reason or "")


def test_folder_without_skill_md_and_binary_file_are_broken(shelf: Shelf) -> None:
    (shelf.folder / "home" / "empty").mkdir(parents=True)
    folder = write_text_skill(shelf.folder / "home" / "noise")
    (folder / "SKILL.md").write_bytes(b"---\nname: noise\ndescription: \xff\n---\n")
    assert "has no SKILL.md" in (shelf.one("empty").reason or "")
    assert "UTF-8" in (shelf.one("noise").reason or "")


def test_escaping_links_are_rejected(shelf: Shelf, tmp_path: Path) -> None:
    outside = write_notebook(tmp_path / "elsewhere" / "far.ipynb")
    home = shelf.folder / "home"
    home.mkdir()
    (home / "far.ipynb").symlink_to(outside)
    (home / "gone").symlink_to(tmp_path / "elsewhere")
    folder = write_text_skill(home / "leaky")
    (tmp_path / "secret.txt").write_text("key")
    (folder / "data.txt").symlink_to(tmp_path / "secret.txt")
    reasons = {item.skill.name: item.reason or "" for item in shelf.all()}
    assert "link that leads out of" in reasons["far"]
    assert "link that leads out of" in reasons["gone"]
    assert "data.txt is a link that leads out of" in reasons["leaky"]
    assert all("key" not in item.skill.text for item in shelf.all())


def test_missing_requirements_are_listed(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, {"PATH": str(tmp_path), "TOKEN": ""})
    needs = {"bins": ["ghost"], "env": ["TOKEN"], "python": ["pytest", "no-such-thing", "pydantic<1", "json"]}
    write_notebook(tmp_path / "home" / "needy.ipynb", requires=needs)
    item = shelf.one("needy")
    assert item.state == "missing"
    reason = item.reason or ""
    assert "`ghost` is not on the PATH" in reason
    assert "TOKEN is not set" in reason
    assert "no-such-thing is not installed" in reason
    assert "pydantic is" in reason
    assert "pytest" not in reason
    assert "json" not in reason


def test_uninstalled_kernel_is_missing(shelf: Shelf) -> None:
    content = notebook([cell("1")], {"description": "x"}, kernelspec={"name": "julia", "language": "julia"})
    (shelf.folder / "home").mkdir()
    (shelf.folder / "home" / "other.ipynb").write_text(json.dumps(content))
    assert shelf.one("other").reason == "The kernel `julia` is not installed."


def test_trust_applies_to_that_version_only(shelf: Shelf) -> None:
    path = write_notebook(shelf.folder / "home" / "count.ipynb", cell("print(1)"))
    assert shelf.one("count").state == "untrusted"
    shelf.trusted("count")
    assert (shelf.one("count").state, shelf.one("count").trusted) == ("ready", True)
    write_notebook(path, cell("print(2)"))
    item = shelf.one("count")
    assert (item.state, item.trusted, item.changed) == ("untrusted", False, True)
    assert "print(1)" in (item.trusted_text or "")
    assert "print(2)" in item.skill.text


def test_outputs_do_not_affect_trust_but_tags_kernel_and_needs_do(shelf: Shelf) -> None:
    path = write_notebook(shelf.folder / "home" / "count.ipynb", cell("print(1)"))
    shelf.trusted("count")
    content = json.loads(path.read_text())
    content["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "1\n"}]
    content["cells"][0]["execution_count"] = 3
    path.write_text(json.dumps(content))
    assert shelf.one("count").state == "ready"
    for change in (
        lambda made: made["cells"][0]["metadata"].update(tags=["parameters"]),
        lambda made: made["metadata"]["kernelspec"].update(name="ir"),
        lambda made: made["metadata"]["onyx"]["skill"].update(requires={"env": ["PATH"]}),
        lambda made: made["cells"][0].update(cell_type="raw"),
    ):
        changed = json.loads(json.dumps(content))
        change(changed)
        path.write_text(json.dumps(changed))
        assert not shelf.one("count").trusted


def test_additional_file_of_text_skill_is_part_of_trust(shelf: Shelf) -> None:
    folder = write_text_skill(shelf.folder / "home" / "house-style", run_sh="echo hello")
    shelf.trusted("house-style")
    assert shelf.one("house-style").state == "ready"
    (folder / "run.sh").write_text("echo other")
    assert shelf.one("house-style").state == "untrusted"


@pytest.mark.parametrize("name", [".hidden.sh", ".config/run.sh", "__pycache__/run.pyc", "node_modules/x/index.js"])
def test_no_file_of_text_skill_is_outside_trust(shelf: Shelf, name: str) -> None:
    folder = write_text_skill(shelf.folder / "home" / "house-style")
    shelf.trusted("house-style")
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("echo planted")
    item = shelf.one("house-style")
    assert (item.state, item.changed) == ("untrusted", True)
    assert "echo planted" in item.skill.text
    assert name in item.skill.files


def test_git_and_jupyter_files_are_not_part_of_skill(shelf: Shelf) -> None:
    folder = write_text_skill(shelf.folder / "home" / "house-style", run_sh="echo hello")
    shelf.trusted("house-style")
    for number in range(600):
        path = folder / ".git" / "objects" / str(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "run-checkpoint.sh").write_text("echo old")
    assert shelf.one("house-style").state == "ready"
    (folder / "run.sh").write_text("echo other")  # seen, however much lies beside it
    assert shelf.one("house-style").state == "untrusted"


def test_change_with_same_size_and_time_is_noticed(shelf: Shelf) -> None:
    path = write_notebook(shelf.folder / "home" / "count.ipynb", cell("print(1)"))
    shelf.trusted("count")
    before = path.stat()
    path.write_text(path.read_text().replace("print(1)", "print(2)"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert not shelf.one("count").trusted


def test_unchanged_files_are_read_once(shelf: Shelf) -> None:
    path = write_notebook(shelf.folder / "home" / "count.ipynb")
    first = shelf.one("count").skill
    assert shelf.one("count").skill is first
    path.write_text(path.read_text().replace("Does it.", "Does it anew."))
    assert shelf.one("count").skill.description == "Does it anew."


def test_packaged_skills_are_trusted_as_installed(tmp_path: Path) -> None:
    write_notebook(tmp_path / "packaged" / "mine.ipynb")
    write_text_skill(tmp_path / "packaged" / "words")
    finder = SkillFinder(TrustStore(tmp_path / "trust.json", FakeClock()), {}, lambda: KERNELS)
    plain = finder.find([Place("packaged", tmp_path / "packaged")])
    assert {item.state for item in plain} == {"untrusted"}
    recorded = {
        (item.skill.folder.relative_to(tmp_path / "packaged") / name).as_posix(): sha256
        for item in plain
        for name, sha256 in item.skill.hashes.items()
    }
    place = Place("packaged", tmp_path / "packaged", lambda: recorded)
    assert {item.state for item in finder.find([place])} == {"ready"}
    (tmp_path / "packaged" / "words" / "more.md").write_text("Not from the package.")
    assert [(item.skill.name, item.state) for item in finder.find([place])] == [
        ("mine", "ready"),
        ("words", "untrusted"),
    ]


def test_skill_too_long_to_show_cannot_be_used(shelf: Shelf) -> None:
    home = shelf.folder / "home"
    for length, state in ((MAX_SHOWN_CHARS // 2, "untrusted"), (MAX_SHOWN_CHARS, "broken")):
        write_notebook(home / "long.ipynb", cell("#" * length))
        write_text_skill(home / "words", "Short.", more_md="x" * length)
        for name in ("long", "words"):
            item = shelf.one(name)
            assert item.state == state
            if state == "untrusted":
                assert "#" * length in item.skill.text or "x" * length in item.skill.text
            else:
                assert "the limit is 400,000" in (item.reason or "")


def test_damaged_trust_file_trusts_nothing(shelf: Shelf) -> None:
    write_notebook(shelf.folder / "home" / "count.ipynb")
    shelf.trusted("count")
    (shelf.folder / "trusted-skills.json").write_text('{"skills": 5}')
    assert shelf.one("count").state == "untrusted"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without named pipes")
def test_named_pipe_is_no_skill_and_does_not_block(shelf: Shelf) -> None:
    home = shelf.folder / "home"
    write_notebook(home / "fine.ipynb")
    folder = write_text_skill(home / "words")
    (home / "hollow").mkdir()
    for path in (home / "pipe.ipynb", folder / "notes.md", home / "hollow" / "SKILL.md"):
        os.mkfifo(path)
    found: list[Listed] = []
    looking = threading.Thread(target=lambda: found.extend(shelf.all()), daemon=True)
    looking.start()
    looking.join(30)
    states = {item.skill.name: (item.state, item.reason or "") for item in found}
    assert states["fine"][0] == "untrusted"
    for name in ("pipe", "hollow", "words"):
        assert states[name][0] == "broken"
        assert "not a regular file" in states[name][1]


def test_slow_file_does_not_block_others(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    write_notebook(shelf.folder / "home" / "slow.ipynb")
    write_notebook(shelf.folder / "project" / "fine.ipynb")
    reading, go_on = threading.Event(), threading.Event()
    read = discovery.read_notebook_skill

    def slowly(path: Path, source: Source) -> Skill:
        if path.stem == "slow":
            reading.set()
            assert go_on.wait(30)
        return read(path, source)

    monkeypatch.setattr(discovery, "read_notebook_skill", slowly)
    found: list[Listed] = []
    looking = threading.Thread(target=lambda: found.extend(shelf.all()), daemon=True)
    looking.start()
    assert reading.wait(30)
    others: list[Listed] = []
    other = threading.Thread(target=lambda: others.extend(shelf.finder.find(places(shelf.folder)[:1])), daemon=True)
    other.start()
    other.join(10)
    names = [item.skill.name for item in others]
    go_on.set()
    looking.join(30)
    assert names == ["fine"]
    assert {item.skill.name for item in found} == {"slow", "fine"}
