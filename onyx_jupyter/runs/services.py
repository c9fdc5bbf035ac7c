"""The services that runs use, provided by the features as functions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from onyx_jupyter.agent.processor import Processor
from onyx_jupyter.agent.run import ExternalAgent
from onyx_jupyter.agents.agents import AgentParts
from onyx_jupyter.agents.offered_skills import OfferedSkills
from onyx_jupyter.agents.settings import Settings
from onyx_jupyter.clock import Clock, IdSource
from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.config.schema import AgentConfig
from onyx_jupyter.memory.fact_store import FactStore
from onyx_jupyter.notebook.review.recording import Author
from onyx_jupyter.project.instructions import Instructions
from onyx_jupyter.protocols import (
    Kernels,
    Knowledge,
    Models,
    Notebooks,
    Search,
    Sessions,
)
from onyx_jupyter.providers.retry import RetryDelays
from onyx_jupyter.schedule.job_fields import local_zone
from onyx_jupyter.schedule.scheduler import Scheduler
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.sessions.transcript import SessionTranscript
from onyx_jupyter.toolsets.context import no_tab
from onyx_jupyter.toolsets.run_tools import GatheredTools


def no_external_agent(model_id: str, transcript: SessionTranscript, parts: AgentParts) -> ExternalAgent | None:
    """Every model answers for itself."""
    return None


@dataclass(frozen=True)
class RunServices:
    """The services that runs use; called for each run, so that a changed configuration applies to the next one.

    `model_of` returns an agent's own model; `notebooks_for` the notebooks in which an author's changes are recorded,
    `notebook_of` the notebook of a kernel; `project` the trusted instructions in the server's root; `tools` gathers an
    agent's tools, with those of any further toolsets passed to it; `memory_search` and `facts` are an agent's;
    `other_sessions` takes an agent, a session key and the message that a run answers there; `prompt_sections` returns
    the sections of features; `scheduler` the scheduled jobs, `time_zone` the zone of those that name none;
    `external_agent` who answers in place of a model, None if the model does.
    """

    settings: Callable[[], Settings]
    models: Callable[[], Models]
    agent: Callable[[str], AgentParts]
    model_of: Callable[[AgentConfig], str]
    notebooks_for: Callable[[Author], Notebooks]
    tools: Callable[..., Awaitable[GatheredTools]]
    skills: Callable[[AgentParts], Awaitable[OfferedSkills]]
    project: Callable[[], Awaitable[Instructions | None]]
    notebook_of: Callable[[str], Awaitable[str | None]]
    other_sessions: Callable[[str, str, Entry], Sessions]
    memory_search: Callable[[str], Search]
    facts: Callable[[AgentParts], FactStore]
    processors: Callable[[Settings], Sequence[Processor]]
    clock: Clock
    ids: IdSource
    waits: RetryDelays = field(default_factory=RetryDelays)
    ceiling: Ceiling = field(default_factory=Ceiling)
    kernels: Kernels | None = None
    knowledge: Knowledge | None = None
    scheduler: Callable[[], Scheduler] | None = None
    time_zone: Callable[[], str] = local_zone
    open_notebooks: Callable[[], tuple[Sequence[str], str | None]] = lambda: ((), None)
    show_notebook: Callable[[str], Awaitable[bool]] = no_tab
    prompt_sections: Callable[[], Sequence[str]] = tuple
    external_agent: Callable[[str, SessionTranscript, AgentParts], ExternalAgent | None] = no_external_agent
