"""The documents that the user has added."""

from __future__ import annotations

from functools import partial

from onyx_jupyter.features.knowledge.documents import KNOWLEDGE, ServerKnowledge
from onyx_jupyter.features.knowledge.operations import OPERATIONS
from onyx_jupyter.features.knowledge.tools import knowledge_add_tool, knowledge_search_tool
from onyx_jupyter.features.knowledge.wire import KnowledgeItemInfo, KnowledgeUpdatedData
from onyx_jupyter.index_process.client import ProcessIndex
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import AGENTS, CONFIGURED, DOCUMENTS, HOST, INDEX_PROCESS, STREAMS
from onyx_jupyter.toolsets.toolset import FixedToolset


def make(parts: Parts) -> Built:
    host = parts.get(HOST)
    knowledge = ServerKnowledge(
        host.home,
        host.server_root,
        parts.get(CONFIGURED),
        parts.get(AGENTS).agent,
        host.drive,
        partial(ProcessIndex, parts.get(INDEX_PROCESS)),
        parts.get(STREAMS).broadcast,
        host.clock,
        host.ids,
    )

    return Built(
        {KNOWLEDGE: knowledge, DOCUMENTS: knowledge.documents},
        catch_up=knowledge.documents.scan,
        close=knowledge.close,
    )


FEATURE = Feature(
    "knowledge",
    make,
    requires=(HOST, CONFIGURED, AGENTS, INDEX_PROCESS, STREAMS),
    provides=(KNOWLEDGE, DOCUMENTS),
    toolsets=(FixedToolset("knowledge", (knowledge_search_tool, knowledge_add_tool)),),
    operations=OPERATIONS,
    events=(
        EventType("knowledge.progress", KnowledgeItemInfo),
        EventType("knowledge.updated", KnowledgeUpdatedData),
    ),
)
