"""The skills of each agent, and which of them the user trusts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from onyx_jupyter.clock import Clock
from onyx_jupyter.config.paths import Home
from onyx_jupyter.errors import InvalidRequest, NotFound
from onyx_jupyter.project.instructions import ONYX_FOLDER
from onyx_jupyter.runs.audit_trail import AuditTrail
from onyx_jupyter.skills.discovery import Place, SkillFinder
from onyx_jupyter.skills.packaged import recorded_hashes
from onyx_jupyter.skills.skill import Listed, Source
from onyx_jupyter.skills.trust import TrustStore

TOOLS_FOLDER = "tools"
PROJECT_FOLDER = Path(ONYX_FOLDER) / "skills"


class SkillLibrary:
    """`workspace` returns an agent's folder; `packaged` is the folder of the package's own skills, if any.

    `on_change` is called when an agent's skills have changed since the last lookup.
    """

    def __init__(
        self,
        home: Home,
        server_root: Path,
        packaged: Path | None,
        workspace: Callable[[str | None], Path],
        environment: Mapping[str, str],
        clock: Clock,
        audit: AuditTrail,
        on_change: Callable[[], None],
        recorded: Callable[[], Mapping[str, str]] = recorded_hashes,
    ) -> None:
        self._home = home
        self._server_root = server_root
        self._packaged = packaged
        self._workspace = workspace
        self._audit = audit
        self._on_change = on_change
        self._recorded = recorded
        self._trust = TrustStore(home.trusted_skills_file, clock)
        self._finder = SkillFinder(self._trust, environment)
        self._seen: dict[str | None, Sequence[tuple[object, ...]]] = {}

    def folder(self, source: Source, agent_id: str | None) -> Path | None:
        """The folder of skills from that source. Raises: NotFound."""
        match source:
            case "project":
                return self._server_root / PROJECT_FOLDER
            case "workspace":
                return self._workspace(agent_id) / "skills"
            case "home":
                return self._home.skills
            case "packaged":
                return self._packaged

    async def all(self, agent_id: str | None = None) -> Sequence[Listed]:
        """All skills, including unusable ones. Raises: NotFound if there is no such agent."""
        found = await asyncio.to_thread(self._finder.find, self._places(agent_id))
        seen = [(item.skill.id, item.skill.digest, item.state, item.reason) for item in found]
        before, self._seen[agent_id] = self._seen.get(agent_id), seen
        if before is not None and before != seen:
            self._on_change()
        return found

    async def tool_files(self, agent_id: str | None = None) -> Sequence[Listed]:
        """The Python files with tools among the skills. Raises: NotFound if there is no such agent."""
        return await asyncio.to_thread(self._finder.find, [self._tools_location(agent_id)])

    async def get(self, name: str, agent_id: str | None = None, *, id: str | None = None) -> Listed:  # noqa: A002
        """The skill as it is on disk now; `id` selects one that another shadows. Raises: NotFound."""
        listed = await asyncio.to_thread(self._finder.fresh, self._places(agent_id))
        named = [item for item in listed if item.skill.name == name and id in (None, item.skill.id)]
        counts = [item for item in named if item.state not in ("broken", "shadowed")]
        if not named:
            known = ", ".join(dict.fromkeys(item.skill.name for item in listed)) or "none"
            raise NotFound(f"There is no skill {name!r}. Available: {known}.")
        return (counts or named)[0]

    async def in_place(self, name: str, source: Source, agent_id: str | None = None) -> Sequence[Path]:
        """The files from that source with that skill name, usable or not. Raises: NotFound."""
        listed = await asyncio.to_thread(self._finder.fresh, self._places(agent_id))
        return [item.skill.path for item in listed if item.skill.name == name and item.skill.source == source]

    async def trust(
        self,
        name: str,
        digest: str,
        by: str,
        agent_id: str | None = None,
        *,
        id: str | None = None,  # noqa: A002
    ) -> Listed:
        """Trusts exactly that version. Raises: NotFound, StorageError; InvalidRequest if it has changed."""
        item = await self.get(name, agent_id, id=id)
        if item.skill.digest != digest or not digest:
            raise InvalidRequest("`hash`: the skill has changed in the meantime. Review it again.", field="hash")
        if item.state == "broken":
            raise InvalidRequest(f"`name`: the skill cannot be used. {item.reason}", field="name")
        await self._audit.skill_trusted(item.skill.name, str(item.skill.path), digest, by)
        await asyncio.to_thread(self._trust.add, item.skill, by)
        await self.all(agent_id)
        self._on_change()
        return await self.get(name, agent_id, id=id)

    def _places(self, agent_id: str | None) -> list[Place]:
        sources: tuple[Source, ...] = ("project", "workspace", "home", "packaged")
        folders = [(source, self.folder(source, agent_id)) for source in sources]
        skills = [
            Place(source, folder, self._recorded if source == "packaged" else dict)
            for source, folder in folders
            if folder is not None
        ]
        return [*skills, self._tools_location(agent_id)]

    def _tools_location(self, agent_id: str | None) -> Place:
        return Place("workspace", self._workspace(agent_id) / TOOLS_FOLDER, holds_tools=True)
