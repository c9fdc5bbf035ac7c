"""Which folders JupyterLab shows as Onyx's drive: workspaces, shared files, skills, executed copies. Nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from onyx_jupyter.config.paths import Home
from onyx_jupyter.security.drive_folders import DriveFolder, DriveFolders

PACKAGED = "packaged-skills"
PROJECT = "project-skills"


def onyx_drive(
    home: Home,
    workspaces: Callable[[], Mapping[str, Path]],
    *,
    project_skills: Path | None = None,
    packaged_skills: Path | None = None,
) -> DriveFolders:
    """The drive; `workspaces` returns each agent's folder by the agent's id.

    A project's skills are on it, too: they are in a hidden folder, which the file browser does not show.
    """

    def folders() -> Mapping[str, DriveFolder]:
        agents = {home.workspace(agent_id, None).name: DriveFolder(real) for agent_id, real in workspaces().items()}
        own = {place.name: DriveFolder(place) for place in (home.shared, home.skills, home.runs)}
        brought = {PACKAGED: DriveFolder(packaged_skills, writable=False)} if packaged_skills else {}
        project = {PROJECT: DriveFolder(project_skills)} if project_skills else {}
        return {**agents, **own, **project, **brought}

    return DriveFolders(home.root, home.private_names, folders)
