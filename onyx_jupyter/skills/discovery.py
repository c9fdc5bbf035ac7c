"""Finds an agent's skills in their places, by precedence, and determines the state of each. It never runs one.

A parsed skill is cached while its files look the same (size, time, inode). Use `fresh` before running one.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from onyx_jupyter.skills.markdown_skill import NOT_COUNTED, read_markdown_skill
from onyx_jupyter.skills.notebook_skill import read_notebook_skill
from onyx_jupyter.skills.requirements import installed_kernels, missing_requirements
from onyx_jupyter.skills.skill import Kind, Listed, Skill, Source
from onyx_jupyter.skills.tool_file import read_tool_file
from onyx_jupyter.skills.trust import TrustedSkill, TrustStore

log = logging.getLogger(__name__)
MAX_SCANNED = 300
_NEVER = frozenset({"__pycache__", "node_modules"})
_MAX_SEEN_FILES = 500

Signature = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A folder with skills; `recorded` returns the hashes of files (by path within it) that count as trusted.

    If it `holds_tools`, it has Python files with tools instead.
    """

    source: Source
    folder: Path
    recorded: Callable[[], Mapping[str, str]] = dict
    holds_tools: bool = False


class SkillFinder:
    """Reads places, for all agents. Call it in threads, not in the event loop."""

    def __init__(
        self,
        trust: TrustStore,
        environment: Mapping[str, str] = os.environ,
        kernels: Callable[[], Mapping[str, str]] = installed_kernels,
    ) -> None:
        self._trust = trust
        self._environment = environment
        self._kernels = kernels
        self._lock = threading.Lock()
        self._kept: dict[Path, tuple[Signature, Skill]] = {}

    def find(self, places: Sequence[Place]) -> list[Listed]:
        """All skills by precedence, then name; includes unusable ones, with the reason."""
        return self._listed(places, use_kept=True)

    def fresh(self, places: Sequence[Place]) -> list[Listed]:
        """Like `find`, but reads every file again."""
        with self._lock:
            self._kept.clear()  # drops files that are gone
        return self._listed(places, use_kept=False)

    def _listed(self, places: Sequence[Place], *, use_kept: bool) -> list[Listed]:
        skills = [skill for place in places for skill in self._in_place(place, use_kept=use_kept)]
        trusted = {str(entry.path): entry for entry in self._trust.entries()}
        digests = {entry.digest for entry in trusted.values()}
        recorded = {place.source: place for place in places}
        kernels = self._kernels() if skills else {}
        listed: list[Listed] = []
        taken: dict[str, Source] = {}
        for skill in skills:
            own = trusted.get(str(skill.path))
            is_trusted = skill.digest in digests or _is_recorded(skill, recorded[skill.source])
            item = self._judged(skill, taken.get(skill.name), own, kernels, is_trusted=is_trusted)
            if item.state not in ("broken", "shadowed"):
                taken[skill.name] = skill.source
            listed.append(item)
        return listed

    def _judged(
        self,
        skill: Skill,
        shadow: Source | None,
        own: TrustedSkill | None,
        kernels: Mapping[str, str],
        *,
        is_trusted: bool,
    ) -> Listed:
        if skill.problem is not None:
            return Listed(skill, "broken", skill.problem)
        changed = not is_trusted and own is not None
        item = Listed(skill, "ready", None, is_trusted, changed, own.text if own is not None else None)
        missing = missing_requirements(skill, self._environment, kernels)
        if shadow is not None:
            return replace(
                item, state="shadowed", reason=f"A skill of the same name in the {shadow} location takes precedence."
            )
        if missing is not None:
            return replace(item, state="missing", reason=missing)
        if not is_trusted:
            reason = "It has changed since it was trusted." if changed else "It is new and has not been trusted yet."
            return replace(item, state="untrusted", reason=reason)
        return item

    def _in_place(self, place: Place, *, use_kept: bool) -> Iterator[Skill]:
        for entry in _entries(place):
            try:
                yield self._read(entry, place, use_kept=use_kept)
            except OSError as error:
                problem = f"It cannot be read: {error.strerror or error}."
                yield _unreadable(entry, place, problem)

    def _read(self, entry: Path, place: Place, *, use_kept: bool) -> Skill:
        real = entry.resolve()
        if place.folder.resolve() not in real.parents:
            return _unreadable(entry, place, "It is a link that leads out of the skills folder.")
        signature = (place.source, *_signature(real))
        with self._lock:
            kept = self._kept.get(real) if use_kept else None
        if kept is not None and kept[0] == signature:
            return kept[1]
        # Without the lock: a slow file must not block others.
        skill = _read_as(_kind(entry, place), real, place.source)
        with self._lock:
            self._kept[real] = (signature, skill)
        return skill


def _read_as(kind: Kind, real: Path, source: Source) -> Skill:
    """Raises: OSError."""
    match kind:
        case "notebook":
            return read_notebook_skill(real, source)
        case "text":
            return read_markdown_skill(real, source)
        case "tool":
            return read_tool_file(real, source)


def _kind(entry: Path, place: Place) -> Kind:
    if place.holds_tools:
        return "tool"
    return "notebook" if entry.suffix == ".ipynb" else "text"


def _unreadable(entry: Path, place: Place, problem: str) -> Skill:
    kind = _kind(entry, place)
    return Skill(entry.stem if kind == "notebook" else entry.name, kind, "", place.source, entry, problem=problem)


def _entries(place: Place) -> list[Path]:
    """Possible skills there: notebooks and folders, by name. Empty if the place does not exist."""
    folder = place.folder
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except OSError as error:
        if not isinstance(error, FileNotFoundError):
            log.warning("The skills in %s could not be listed: %s", folder, error)
        return []
    paths = [folder / name for name in names if not name.startswith(".") and name not in _NEVER]
    if place.holds_tools:  # files that begin with _ are helpers of the others, as usual in Python
        return [path for path in paths if path.suffix == ".py" and not path.name.startswith("_")][:MAX_SCANNED]
    return [path for path in paths if path.suffix == ".ipynb" or path.is_dir()][:MAX_SCANNED]


def _signature(path: Path) -> Signature:
    """A value that changes with the files. Raises: OSError."""
    if not path.is_dir():
        return _stamp(path)
    stamps: list[object] = []
    for place, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in NOT_COUNTED)
        stamps += [(name, *_stamp(Path(place) / name)) for name in sorted(files)]
        if len(stamps) > _MAX_SEEN_FILES:
            break
    return tuple(stamps)


def _stamp(path: Path) -> Signature:
    status = path.lstat()
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns


def _is_recorded(skill: Skill, place: Place) -> bool:
    """Whether every file of the skill is as packaged."""
    recorded = place.recorded()
    root = place.folder.resolve()
    if not recorded or not skill.hashes or root not in skill.path.parents:
        return False
    folder = skill.folder.relative_to(root)
    return all(recorded.get((folder / name).as_posix()) == sha256 for name, sha256 in skill.hashes.items())
