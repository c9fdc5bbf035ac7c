"""Reads a folder with a SKILL.md, the AgentSkills standard. It never follows a link out of that folder.

Source: https://agentskills.io/specification
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from onyx_jupyter.skills.front_matter import requires_of, split_front_matter
from onyx_jupyter.skills.regular_file import read_regular, require_regular
from onyx_jupyter.skills.skill import (
    MAX_SHOWN_CHARS,
    Skill,
    SkillProblem,
    Source,
    checked_description,
    checked_name,
    too_long,
)

SKILL_FILE = "SKILL.md"
MAX_FILES = 200
MAX_FOLDER_BYTES = 5_000_000
# Everything else counts, even hidden files: what no hash covers could be changed after it was trusted.
NOT_COUNTED = frozenset({".git", ".ipynb_checkpoints"})


def read_markdown_skill(folder: Path, source: Source) -> Skill:
    """The skill, with its `problem` if it has one. Raises: OSError."""
    path = folder / SKILL_FILE
    skill = Skill(folder.name, "text", "", source, path)
    if not path.exists():
        return replace(skill, problem=f"The folder has no {SKILL_FILE}.")
    try:
        names = files_of(folder)
        contents = {name: read_regular(folder / name, MAX_FOLDER_BYTES) for name in names}
        hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        text = _shown(contents)
        known: dict[str, Any] = {"text": text[:MAX_SHOWN_CHARS], "files": names[1:], "hashes": hashes}
        skill = replace(skill, digest=_digest(hashes), **known)
        if (reason := too_long(text, "Its files contain")) is not None:
            raise SkillProblem(reason)
        meta, body = split_front_matter(_decoded(contents[SKILL_FILE]))
        return replace(
            skill,
            name=checked_name(meta.get("name"), must_be=folder.name),
            description=checked_description(meta.get("description")),
            instructions=body.strip(),
            requires=requires_of(meta),
        )
    except SkillProblem as problem:
        return replace(skill, problem=str(problem))


def files_of(folder: Path) -> tuple[str, ...]:
    """The folder's files by their paths within it, SKILL.md first. Raises: SkillProblem, OSError."""
    names: list[str] = []
    total = 0
    for path in _walk(folder):
        if not path.exists():  # a broken link: if its target appears, the digest changes
            continue
        status = path.stat()
        require_regular(path, status)
        total += status.st_size
        names.append(path.relative_to(folder).as_posix())
        if len(names) > MAX_FILES or total > MAX_FOLDER_BYTES:
            raise SkillProblem(
                f"The folder is too large: the limits are {MAX_FILES} files and {MAX_FOLDER_BYTES / 1e6:.0f} MB."
            )
    return (SKILL_FILE, *sorted(name for name in names if name != SKILL_FILE))


def read_file(skill: Skill, name: str) -> str:
    """The text of one of the skill's files, unchanged since it was hashed. Raises: SkillProblem."""
    if name not in skill.hashes:
        known = ", ".join(skill.hashes)
        raise SkillProblem(f"There is no file {name!r} in the folder of {skill.name}. Files: {known}.")
    try:
        content = read_regular(skill.folder / name, MAX_FOLDER_BYTES)
    except OSError as error:
        raise SkillProblem(f"{name} cannot be read: {error.strerror or error}.") from error
    if hashlib.sha256(content).hexdigest() != skill.hashes[name]:
        raise SkillProblem(f"{name} was just changed. Read it again.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SkillProblem(f"{name} is not text: {len(content)} bytes.") from error


def _walk(folder: Path) -> Iterator[Path]:
    """Every file below; a link that leads out of the folder is an error, since its target is not hashed."""
    root = folder.resolve()
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in NOT_COUNTED)
        for name in [*folders, *files]:
            path = Path(place) / name
            if path.is_symlink() and root not in path.resolve().parents:
                raise SkillProblem(
                    f"{path.relative_to(folder).as_posix()} is a link that leads out of the skill's folder."
                )
            if name in files:
                yield path


def _digest(hashes: dict[str, str]) -> str:
    lines = [f"{name}\0{sha256}" for name, sha256 in sorted(hashes.items())]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _shown(contents: dict[str, bytes]) -> str:
    """All text files, one after the other, for people; for other files their size and hash."""
    parts = []
    for name, content in contents.items():
        head = "" if name == SKILL_FILE else f"===== {name}\n"
        try:
            parts.append(head + content.decode("utf-8"))
        except UnicodeDecodeError:
            parts.append(f"{head}({len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()})\n")
    return "\n".join(parts)


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SkillProblem(f"{SKILL_FILE} is not UTF-8 text.") from error
