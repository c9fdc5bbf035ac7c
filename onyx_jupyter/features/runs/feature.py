"""The answers that are being made."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from onyx_jupyter.agent.processor import Processor
from onyx_jupyter.features.runs.ask_user_tool import ask_user_tool
from onyx_jupyter.features.runs.plan_tool import plan_update_tool
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.parts import Parts
from onyx_jupyter.project.instructions import Instructions
from onyx_jupyter.runtime.agents import AgentParts
from onyx_jupyter.runtime.keys import (
    AGENTS,
    APPROVALS,
    AUDIT,
    CHANGED_SESSION,
    CONFIGURED,
    CONTRIBUTIONS,
    CONVERSATIONS,
    HOST,
    KNOWLEDGE,
    MEMORIES,
    NOTEBOOK_REVIEW,
    PROJECT_FILES,
    QUESTIONS,
    READING_AHEAD,
    RUNS,
    SESSION_SEARCH,
    SESSIONS,
    SKILLS,
    STREAMS,
    SURROUNDINGS,
    TOOLSETS,
)
from onyx_jupyter.runtime.other_sessions import OtherSessions
from onyx_jupyter.runtime.reading_ahead import ReadingAhead
from onyx_jupyter.runtime.recovery import recover
from onyx_jupyter.runtime.runs import Runs, Sent
from onyx_jupyter.runtime.settings import Settings
from onyx_jupyter.runtime.skills import Offered
from onyx_jupyter.runtime.surroundings import Surroundings
from onyx_jupyter.toolsets.toolset import FixedToolset


def make(parts: Parts) -> Built:
    host, sessions, around = parts.get(HOST), parts.get(SESSIONS), _surroundings(parts)
    approvals, questions, audit = parts.get(APPROVALS), parts.get(QUESTIONS), parts.get(AUDIT)
    runs = Runs(around, parts.get(STREAMS), approvals, questions, audit, parts.get(CHANGED_SESSION).tell)
    ahead = ReadingAhead(around, runs, sessions.get)

    async def start() -> None:
        await recover(sessions, runs, approvals, questions, audit, host.clock, host.ids)

    async def close() -> None:
        """What waits for a person goes on at the next start: it is let go before the runs that wait for it end."""
        await ahead.close()
        approvals.close()
        questions.close()
        await runs.close()

    return Built({SURROUNDINGS: around, RUNS: runs, READING_AHEAD: ahead}, start=start, close=close)


def _surroundings(parts: Parts) -> Surroundings:
    host, configured, memories = parts.get(HOST), parts.get(CONFIGURED), parts.get(MEMORIES)
    contributions, conversations = parts.get(CONTRIBUTIONS), parts.later(CONVERSATIONS)
    skills, project, knowledge = parts.find(SKILLS), parts.find(PROJECT_FILES), parts.find(KNOWLEDGE)

    async def send(*message: Any, **more: Any) -> Sent:
        return await conversations().send(*message, **more)

    def processors(settings: Settings) -> Sequence[Processor]:
        return [*contributions.processors(), *host.processors(settings)]

    return Surroundings(
        settings=lambda: configured.settings,
        models=lambda: configured.models,
        agent=parts.get(AGENTS).agent,
        tools=parts.get(TOOLSETS).of,
        model_of=configured.model_of,
        notebooks_for=parts.get(NOTEBOOK_REVIEW).notebooks_for,
        skills=skills.offered if skills else _no_skills,
        project=project.instructions if project else _no_instructions,
        notebook_of=host.notebook_of,
        other_sessions=partial(OtherSessions, parts.get(SESSIONS), parts.get(SESSION_SEARCH), send),
        memory_search=memories.searching,
        facts=lambda agent: memories.facts(agent.memory),
        processors=processors,
        clock=host.clock,
        ids=host.ids,
        waits=host.waits,
        ceiling=host.ceiling,
        kernels=host.kernels,
        knowledge=knowledge.documents if knowledge else None,
        open_notebooks=host.open_notebooks,
        show_notebook=host.show_notebook,
        prompt_sections=contributions.prompt_sections,
    )


async def _no_skills(agent: AgentParts) -> Offered:
    return Offered()


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
        MEMORIES,
        AGENTS,
        NOTEBOOK_REVIEW,
        APPROVALS,
        QUESTIONS,
        SESSION_SEARCH,
        TOOLSETS,
    ),
    uses=(SKILLS, PROJECT_FILES, KNOWLEDGE),
    provides=(SURROUNDINGS, RUNS, READING_AHEAD),
    toolsets=(FixedToolset("chat", (ask_user_tool, plan_update_tool)),),
    essential=True,
)
