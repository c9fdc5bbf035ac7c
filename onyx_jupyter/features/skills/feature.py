"""Skills: finding, trusting and running them."""

from __future__ import annotations

from onyx_jupyter.config.schema import Config
from onyx_jupyter.features.skills.author import SkillAuthor
from onyx_jupyter.features.skills.library import SkillLibrary
from onyx_jupyter.features.skills.operations import OPERATIONS
from onyx_jupyter.features.skills.questions import SkillQuestions
from onyx_jupyter.features.skills.runs import SkillRuns
from onyx_jupyter.features.skills.skill_service import SKILLS, Skills
from onyx_jupyter.features.skills.wire import (
    SkillQuestionClosedData,
    SkillRunInfo,
    SkillRunProgressData,
    SkillsUpdatedData,
)
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import AGENTS, AUDIT, CONFIGURED, HOST, OFFERED_SKILLS, STREAMS
from onyx_jupyter.security.drive_folders import browser_paths
from onyx_jupyter.skills.run_record import RunFolder
from onyx_jupyter.skills.run_retention import RunLimits


def make(parts: Parts) -> Built:
    host, configured, agents = parts.get(HOST), parts.get(CONFIGURED), parts.get(AGENTS)
    audit, broadcast = parts.get(AUDIT), parts.get(STREAMS).broadcast

    def config() -> Config:
        return configured.settings.config

    def announce() -> None:
        broadcast("skills.updated", {})

    library = SkillLibrary(
        host.home,
        host.server_root,
        host.packaged_skills,
        lambda agent_id: agents.agent(agent_id).workspace,
        host.environment,
        host.clock,
        audit,
        on_change=announce,
        recorded=host.recorded_skills,
    )
    runs = SkillRuns(
        RunFolder(host.home.runs),
        host.clock,
        host.ids,
        lambda: config().skills.timeout_ms / 1000,
        broadcast,
        configured.redact_data,
        on_end=lambda record: skills.ended(record),
        opened_as=lambda paths: browser_paths(paths, host.server_root, host.drive),
        limits=lambda: RunLimits(config().skills.keep_runs, config().skills.max_runs_bytes),
    )
    author = SkillAuthor(library, host.notebooks, announce)
    questions = SkillQuestions(
        library, host.clock, host.ids, lambda: config().security.approval_timeout_ms / 1000, broadcast
    )
    skills = Skills(library, runs, author, questions, audit, agents.agent, configured.forbidden)

    async def start() -> None:
        await runs.recover()
        await runs.prune()

    async def warm() -> None:
        await skills.offered(agents.agent(None))

    return Built({SKILLS: skills, OFFERED_SKILLS: skills.offered}, start, warm, runs.close)


FEATURE = Feature(
    "skills",
    make,
    requires=(HOST, CONFIGURED, AGENTS, AUDIT, STREAMS),
    provides=(SKILLS, OFFERED_SKILLS),
    operations=OPERATIONS,
    events=(
        EventType("skills.updated", SkillsUpdatedData),
        EventType("skills.question_closed", SkillQuestionClosedData),
        EventType("skills.run_started", SkillRunInfo),
        EventType("skills.run_progress", SkillRunProgressData),
        EventType("skills.run_finished", SkillRunInfo),
    ),
)
