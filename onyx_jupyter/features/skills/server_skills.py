"""Assembles the skill service of a server from its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from onyx_jupyter.agents.agents import AgentParts
from onyx_jupyter.clock import Clock, IdSource
from onyx_jupyter.config.paths import Home
from onyx_jupyter.config.schema import Config
from onyx_jupyter.features.skills.author import SkillAuthor
from onyx_jupyter.features.skills.library import SkillLibrary
from onyx_jupyter.features.skills.questions import SkillQuestions
from onyx_jupyter.features.skills.runs import SkillRuns
from onyx_jupyter.features.skills.skill_service import Forbidden, Skills
from onyx_jupyter.protocols import Notebooks
from onyx_jupyter.runs.audit_trail import AuditTrail
from onyx_jupyter.security.drive_folders import DriveFolders, browser_paths
from onyx_jupyter.skills.run_record import RunFolder
from onyx_jupyter.skills.run_retention import RunLimits


def server_skills(
    home: Home,
    server_root: Path,
    notebooks: Notebooks,
    packaged: Path | None,
    recorded: Callable[[], Mapping[str, str]],
    drive: DriveFolders | None,
    *,
    environment: Mapping[str, str],
    agent: Callable[[str | None], AgentParts],
    config: Callable[[], Config],
    forbidden: Forbidden,
    audit: AuditTrail,
    broadcast: Callable[[str, dict[str, object]], None],
    redact: Callable[[Any], Any],
    clock: Clock,
    ids: IdSource,
) -> Skills:
    """`packaged` is the folder of the package's skills, `recorded` their hashes; `drive` maps paths for the browser."""
    library = SkillLibrary(
        home,
        server_root,
        packaged,
        lambda agent_id: agent(agent_id).workspace,
        environment,
        clock,
        audit,
        on_change=lambda: broadcast("skills.updated", {}),
        recorded=recorded,
    )
    runs = SkillRuns(
        RunFolder(home.runs),
        clock,
        ids,
        lambda: config().skills.timeout_ms / 1000,
        broadcast,
        redact,
        on_end=lambda record: skills.ended(record),
        opened_as=lambda paths: browser_paths(paths, server_root, drive),
        limits=lambda: RunLimits(config().skills.keep_runs, config().skills.max_runs_bytes),
    )
    author = SkillAuthor(library, notebooks, lambda: broadcast("skills.updated", {}))
    questions = SkillQuestions(library, clock, ids, lambda: config().security.approval_timeout_ms / 1000, broadcast)
    skills = Skills(library, runs, author, questions, audit, agent, forbidden)
    return skills
