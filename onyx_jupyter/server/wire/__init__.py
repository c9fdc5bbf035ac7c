"""The parameters, results and events of the socket as pydantic models; TypeScript types are generated from here.

It never does anything with them: `methods/` answers, `socket` carries.
"""

from __future__ import annotations

from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.server.wire import (
    approvals,
    clients,
    events,
    knowledge,
    local_models,
    memory,
    notebooks,
    project,
    questions,
    skill_questions,
    skills,
)

EVENTS: dict[str, EventType] = {
    event.name: event
    for event in (
        EventType("chat.started", events.ChatStartedData),
        EventType("chat.delta", events.ChatDeltaData),
        EventType("chat.thought", events.ChatThoughtData),
        EventType("tool.draft", events.ToolDraftData),
        EventType("tool.started", events.ToolStartedData),
        EventType("tool.progress", events.ToolProgressData),
        EventType("tool.finished", events.ToolFinishedData),
        EventType("exec.approval_request", approvals.ApprovalInfo, "admin"),
        EventType("exec.approval_resolved", events.ApprovalResolvedData),
        EventType("grants.updated", approvals.GrantsUpdatedData),
        EventType("chat.question", questions.QuestionInfo),
        EventType("chat.question_resolved", questions.QuestionResolvedData),
        EventType("chat.note", events.ChatNoteData),
        EventType("chat.steered", events.ChatSteeredData),
        EventType("chat.joined", events.ChatJoinedData),
        EventType("chat.final", events.ChatFinalData),
        EventType("chat.error", events.ChatErrorData),
        EventType("chat.aborted", events.ChatAbortedData),
        EventType("session.updated", events.SessionUpdatedData),
        EventType("notebook.changes_updated", notebooks.NotebookChangesUpdatedData),
        EventType("skills.updated", skills.SkillsUpdatedData),
        EventType("skills.question_closed", skill_questions.SkillQuestionClosedData),
        EventType("skills.run_started", skills.SkillRunInfo),
        EventType("skills.run_progress", skills.SkillRunProgressData),
        EventType("skills.run_finished", skills.SkillRunInfo),
        EventType("project.updated", project.ProjectUpdatedData),
        EventType("memory.updated", memory.MemoryUpdatedData),
        EventType("knowledge.progress", knowledge.KnowledgeItemInfo),
        EventType("knowledge.updated", knowledge.KnowledgeUpdatedData),
        EventType("local_models.progress", local_models.LocalModelInfo),
        EventType("client.request", clients.ClientRequest),
    )
}
"""Every event that is told outside of the process."""
