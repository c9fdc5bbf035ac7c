"""The runs in progress."""

from __future__ import annotations

from collections.abc import Sequence

from onyx_jupyter.agent.processor import Processor
from onyx_jupyter.agents.agents import AgentParts
from onyx_jupyter.agents.offered_skills import OfferedSkills
from onyx_jupyter.agents.settings import Settings
from onyx_jupyter.features.runs.tools import ask_user_tool, plan_update_tool
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import (
    AGENTS,
    APPROVALS,
    AUDIT,
    CHANGED_SESSION,
    CONFIGURED,
    CONTRIBUTIONS,
    DOCUMENTS,
    EXTERNAL_AGENT,
    FACTS,
    HOST,
    MEMORY_SEARCH,
    OFFERED_SKILLS,
    OTHER_SESSIONS,
    PREFILL,
    PROJECT_INSTRUCTIONS,
    QUESTIONS,
    RECORDED_NOTEBOOKS,
    RUN_SERVICES,
    RUNS,
    SCHEDULER,
    SESSIONS,
    STREAMS,
    TIME_ZONE,
    TOOLSETS,
)
from onyx_jupyter.project.instructions import Instructions
from onyx_jupyter.runs.prefill import Prefill
from onyx_jupyter.runs.recovery import recover
from onyx_jupyter.runs.runs import Runs
from onyx_jupyter.runs.services import RunServices, no_external_agent
from onyx_jupyter.schedule.job_fields import local_zone
from onyx_jupyter.toolsets.toolset import FixedToolset


def make(parts: Parts) -> Built:
    host, sessions, around = parts.get(HOST), parts.get(SESSIONS), _surroundings(parts)
    approvals, questions, audit = parts.get(APPROVALS), parts.get(QUESTIONS), parts.get(AUDIT)
    runs = Runs(around, parts.get(STREAMS), approvals, questions, audit, parts.get(CHANGED_SESSION).notify)
    ahead = Prefill(around, runs, sessions.get)

    async def start() -> None:
        await recover(sessions, runs, approvals, questions, audit, host.clock, host.ids)

    async def close() -> None:
        """Releases approvals and questions before their waiting runs end, because they resume at the next start."""
        await ahead.close()
        approvals.close()
        questions.close()
        await runs.close()

    return Built({RUN_SERVICES: around, RUNS: runs, PREFILL: ahead}, start=start, close=close)


def _surroundings(parts: Parts) -> RunServices:
    host, configured, contributions = parts.get(HOST), parts.get(CONFIGURED), parts.get(CONTRIBUTIONS)
    facts = parts.get(FACTS)

    def processors(settings: Settings) -> Sequence[Processor]:
        return [*contributions.processors(), *host.processors(settings)]

    return RunServices(
        settings=lambda: configured.settings,
        models=lambda: configured.models,
        agent=parts.get(AGENTS).agent,
        tools=parts.get(TOOLSETS).of,
        model_of=configured.model_of,
        notebooks_for=parts.get(RECORDED_NOTEBOOKS),
        skills=parts.find(OFFERED_SKILLS) or _no_skills,
        project=parts.find(PROJECT_INSTRUCTIONS) or _no_instructions,
        notebook_of=host.notebook_of,
        other_sessions=parts.get(OTHER_SESSIONS),
        memory_search=parts.get(MEMORY_SEARCH),
        facts=lambda agent: facts(agent.memory),
        processors=processors,
        clock=host.clock,
        ids=host.ids,
        waits=host.waits,
        ceiling=host.ceiling,
        kernels=host.kernels,
        knowledge=parts.find(DOCUMENTS),
        scheduler=parts.later(SCHEDULER),
        time_zone=lambda: (parts.find(TIME_ZONE) or local_zone)(),
        open_notebooks=host.open_notebooks,
        show_notebook=host.show_notebook,
        prompt_sections=contributions.prompt_sections,
        external_agent=parts.find(EXTERNAL_AGENT) or no_external_agent,
    )


async def _no_skills(agent: AgentParts) -> OfferedSkills:
    return OfferedSkills()


async def _no_instructions() -> Instructions | None:
    return None


FEATURE = Feature(
    "runs",
    make,
    requires=(
        HOST,
        CONTRIBUTIONS,
        CONFIGURED,
        STREAMS,
        SESSIONS,
        CHANGED_SESSION,
        AUDIT,
        MEMORY_SEARCH,
        FACTS,
        AGENTS,
        RECORDED_NOTEBOOKS,
        APPROVALS,
        QUESTIONS,
        OTHER_SESSIONS,
        TOOLSETS,
    ),
    uses=(OFFERED_SKILLS, PROJECT_INSTRUCTIONS, DOCUMENTS, EXTERNAL_AGENT),
    provides=(RUN_SERVICES, RUNS, PREFILL),
    toolsets=(FixedToolset("chat", (ask_user_tool, plan_update_tool)),),
    essential=True,
)
