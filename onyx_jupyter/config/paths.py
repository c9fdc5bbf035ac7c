"""The paths of all files under ONYX_HOME."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DEFAULT_HOME = "~/.config/onyx"


@dataclass(frozen=True)
class Home:
    """The folder with all of one user's data; each property is a path inside it."""

    root: Path

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Home:
        """`ONYX_HOME`, or ~/.config/onyx."""
        return cls(Path(environment.get("ONYX_HOME") or DEFAULT_HOME).expanduser().absolute())

    @property
    def config_file(self) -> Path:
        return self.root / "onyx.json"

    @property
    def last_good_file(self) -> Path:
        """The text of the last onyx.json without an error."""
        return self.versions / "onyx.json" / "last-good.json5"

    @property
    def credentials_file(self) -> Path:
        """The API keys that were entered, encrypted."""
        return self.root / "credentials.json"

    @property
    def credentials_key_file(self) -> Path:
        """The key of `credentials_file`, if no keyring holds it."""
        return self.root / "credentials.key"

    @property
    def grants_file(self) -> Path:
        return self.root / "grants.json"

    @property
    def trusted_skills_file(self) -> Path:
        return self.root / "trusted-skills.json"

    @property
    def trusted_project_files_file(self) -> Path:
        return self.root / "trusted-project-files.json"

    @property
    def shared(self) -> Path:
        """Files that every agent reads."""
        return self.root / "shared"

    @property
    def skills(self) -> Path:
        return self.root / "skills"

    @property
    def runs(self) -> Path:
        """Executed copies of notebook skills."""
        return self.root / "runs"

    @property
    def checkpoints(self) -> Path:
        """The states to which files of JupyterLab's drive can be reverted."""
        return self.root / "checkpoints"

    @property
    def versions(self) -> Path:
        """Every former version of each memory file, and the last good configuration."""
        return self.root / "versions"

    @property
    def owner_lock(self) -> Path:
        """Lock of the one server that does what must be done once."""
        return self.root / "owner.lock"

    @property
    def consolidation_lock(self) -> Path:
        """Lock of the one server that looks through a conversation for what to remember."""
        return self.root / "consolidation.lock"

    @property
    def index(self) -> Path:
        """What search needs; it may be deleted at any time."""
        return self.root / "index"

    @property
    def knowledge(self) -> Path:
        """The list of added documents, and the copies of pages and uploads."""
        return self.root / "knowledge"

    @property
    def models(self) -> Path:
        """The files of the models that run on this machine."""
        return self.root / "models"

    @property
    def cache(self) -> Path:
        """What local models have read, until they start again; it may be deleted at any time."""
        return self.root / "cache"

    @property
    def private_names(self) -> frozenset[str]:
        """Names here that no file browser shows: every path of this class but three."""
        shown = {self.shared, self.skills, self.runs}
        names = [name for name, value in vars(Home).items() if isinstance(value, property) and name != "private_names"]
        places = [place for place in (getattr(self, name) for name in names) if place not in shown]
        return frozenset(place.relative_to(self.root).parts[0] for place in places)

    @property
    def schedule(self) -> Path:
        """The jobs, and what became of each planned time."""
        return self.root / "schedule"

    @property
    def audit_file(self) -> Path:
        return self.root / "audit.jsonl"

    @property
    def sessions(self) -> Path:
        return self.root / "sessions"

    @property
    def usage(self) -> Path:
        """What every model call used, a file a month."""
        return self.root / "usage"

    @property
    def onboarding(self) -> Path:
        """The answers to onboarding, a file an agent."""
        return self.root / "onboarding"

    @property
    def changes(self) -> Path:
        return self.root / "changes"

    @property
    def log_file(self) -> Path:
        return self.root / "logs" / "onyx.jsonl"

    def workspace(self, agent_id: str, configured: str | None) -> Path:
        """The agent's own folder: as configured (relative to ONYX_HOME), else workspace/ or workspace-<id>/."""
        if configured:
            return (self.root / Path(configured).expanduser()).absolute()
        return self.root / ("workspace" if agent_id == "main" else f"workspace-{agent_id}")
