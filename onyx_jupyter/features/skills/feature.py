"""Skills: finding, trusting and running them."""

from __future__ import annotations

from onyx_jupyter.features.skills import operations, question_operations
from onyx_jupyter.features.skills.keys import SKILLS
from onyx_jupyter.features.skills.question_wire import SkillQuestionClosedData
from onyx_jupyter.features.skills.server_skills import server_skills
from onyx_jupyter.features.skills.wire import SkillRunInfo, SkillRunProgressData, SkillsUpdatedData
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import AGENTS, AUDIT, CONFIGURED, HOST, OFFERED_SKILLS, STREAMS


def make(parts: Parts) -> Built:
    host, configured, agents = parts.get(HOST), parts.get(CONFIGURED), parts.get(AGENTS)
    skills = server_skills(
        host.home,
        host.server_root,
        host.notebooks,
        host.packaged_skills,
        host.recorded_skills,
        host.drive,
        environment=host.environment,
        agent=agents.agent,
        config=lambda: configured.settings.config,
        forbidden=configured.forbidden,
        audit=parts.get(AUDIT),
        broadcast=parts.get(STREAMS).broadcast,
        redact=configured.redact_data,
        clock=host.clock,
        ids=host.ids,
    )

    async def start() -> None:
        await skills.runs.recover()
        await skills.runs.prune()

    async def warm() -> None:
        await skills.offered(agents.agent(None))

    return Built({SKILLS: skills, OFFERED_SKILLS: skills.offered}, start, warm, skills.runs.close)


FEATURE = Feature(
    "skills",
    make,
    requires=(HOST, CONFIGURED, AGENTS, AUDIT, STREAMS),
    provides=(SKILLS, OFFERED_SKILLS),
    operations=(*operations.OPERATIONS, *question_operations.OPERATIONS),
    events=(
        EventType("skills.updated", SkillsUpdatedData),
        EventType("skills.question_closed", SkillQuestionClosedData),
        EventType("skills.run_started", SkillRunInfo),
        EventType("skills.run_progress", SkillRunProgressData),
        EventType("skills.run_finished", SkillRunInfo),
    ),
)
