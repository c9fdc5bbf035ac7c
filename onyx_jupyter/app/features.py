"""The list of all features of Onyx. A new feature needs one line here."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.app.foundation import FOUNDATION
from onyx_jupyter.features.acp.feature import FEATURE as ACP
from onyx_jupyter.features.agents.feature import FEATURE as AGENTS
from onyx_jupyter.features.approvals.feature import FEATURE as APPROVALS
from onyx_jupyter.features.files.feature import FEATURE as FILES
from onyx_jupyter.features.knowledge.feature import FEATURE as KNOWLEDGE
from onyx_jupyter.features.local_models.feature import FEATURE as LOCAL_MODELS
from onyx_jupyter.features.memory.consolidation_feature import FEATURE as CONSOLIDATION
from onyx_jupyter.features.memory.feature import FEATURE as MEMORY
from onyx_jupyter.features.models.feature import FEATURE as MODELS
from onyx_jupyter.features.notebooks.feature import FEATURE as NOTEBOOKS
from onyx_jupyter.features.onboarding.feature import FEATURE as ONBOARDING
from onyx_jupyter.features.processes.feature import FEATURE as PROCESSES
from onyx_jupyter.features.project.feature import FEATURE as PROJECT
from onyx_jupyter.features.providers.feature import FEATURE as PROVIDERS
from onyx_jupyter.features.questions.feature import FEATURE as QUESTIONS
from onyx_jupyter.features.runs.feature import FEATURE as RUNS
from onyx_jupyter.features.schedule.feature import FEATURE as SCHEDULE
from onyx_jupyter.features.sessions.feature import FEATURE as CONVERSATIONS
from onyx_jupyter.features.sessions.feature import SEARCH as SESSION_SEARCH
from onyx_jupyter.features.settings.feature import FEATURE as SETTINGS
from onyx_jupyter.features.skills.feature import FEATURE as SKILLS
from onyx_jupyter.features.status.feature import FEATURE as STATUS
from onyx_jupyter.features.tabs.feature import FEATURE as TABS
from onyx_jupyter.features.usage.feature import FEATURE as USAGE
from onyx_jupyter.features.warm_up.feature import FEATURE as WARM_UP
from onyx_jupyter.features.web.feature import FEATURE as WEB
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Feature
from onyx_jupyter.operations.operation import Operations
from onyx_jupyter.toolsets.tool import Tool
from onyx_jupyter.toolsets.toolset import FixedToolset

FEATURES: tuple[Feature, ...] = (
    FOUNDATION,
    STATUS,
    AGENTS,
    MODELS,
    PROVIDERS,
    SETTINGS,
    LOCAL_MODELS,
    ACP,
    CONVERSATIONS,
    APPROVALS,
    QUESTIONS,
    SKILLS,
    PROJECT,
    TABS,
    NOTEBOOKS,
    FILES,
    PROCESSES,
    MEMORY,
    RUNS,
    CONSOLIDATION,
    WEB,
    KNOWLEDGE,
    SESSION_SEARCH,
    SCHEDULE,
    USAGE,
    ONBOARDING,
    WARM_UP,
)
"""In the order in which their tools are listed for a model; each starts after what it requires."""

OPERATIONS = Operations(operation for feature in FEATURES for operation in feature.operations)
"""All operations of Onyx itself. The front end's types are derived from here."""

EVENTS: dict[str, EventType] = {event.name: event for feature in FEATURES for event in feature.events}
"""Every event that is sent outside of the process."""

TOOLSETS: tuple[FixedToolset, ...] = tuple(
    toolset for feature in FEATURES for toolset in feature.toolsets if isinstance(toolset, FixedToolset)
)


def all_tools() -> list[Tool[Any]]:
    """Every tool of Onyx itself, without those of skills, in the order in which they are listed for a model."""
    return [tool for toolset in TOOLSETS for tool in toolset.given]
