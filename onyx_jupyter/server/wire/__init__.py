"""The socket's frames, methods and events as pydantic models; TypeScript types are generated from here.

It never does anything with them: `methods/` answers, `socket` carries.
"""

from __future__ import annotations

from onyx_jupyter.server.wire import (
    approvals,
    chat,
    clients,
    events,
    kernels,
    memory,
    notebooks,
    questions,
    sessions,
    skills,
    status,
)
from onyx_jupyter.server.wire.base import NoParams, Ok, Wire

METHODS: dict[str, tuple[type[Wire], type[Wire]]] = {
    "health.check": (NoParams, status.Health),
    "agents.list": (NoParams, status.Agents),
    "models.list": (status.ModelsListParams, status.ModelList),
    "sessions.create": (sessions.SessionsCreateParams, sessions.SessionCreated),
    "sessions.list": (sessions.SessionsListParams, sessions.SessionList),
    "sessions.get": (sessions.SessionParams, sessions.SessionDetail),
    "sessions.subscribe": (sessions.SessionsSubscribeParams, sessions.Subscribed),
    "chat.send": (chat.ChatSendParams, chat.ChatSent),
    "chat.history": (chat.ChatHistoryParams, chat.ChatHistory),
    "chat.abort": (chat.ChatAbortParams, Ok),
    "context.preview": (chat.ContextPreviewParams, chat.ContextPreview),
    "exec.approve": (approvals.ExecApproveParams, Ok),
    "exec.deny": (approvals.ExecDenyParams, Ok),
    "approvals.list": (approvals.ApprovalsListParams, approvals.ApprovalList),
    "grants.list": (NoParams, approvals.GrantList),
    "grants.revoke": (approvals.GrantsRevokeParams, Ok),
    "questions.answer": (questions.QuestionsAnswerParams, Ok),
    "questions.list": (questions.QuestionsListParams, questions.QuestionList),
    "skills.list": (skills.SkillsListParams, skills.SkillList),
    "skills.get": (skills.SkillParams, skills.SkillDetail),
    "skills.trust": (skills.SkillsTrustParams, skills.SkillTrusted),
    "skills.run": (skills.SkillsRunParams, skills.SkillRunStarted),
    "skills.stop": (skills.SkillRunParams, Ok),
    "skills.runs": (skills.SkillsRunsParams, skills.SkillRunList),
    "skills.result": (skills.SkillRunParams, skills.SkillResult),
    "skills.copy": (skills.SkillRunParams, skills.SkillCopy),
    "skills.propose": (skills.SkillsProposeParams, skills.SkillProposal),
    "skills.save": (skills.SkillsSaveParams, skills.SkillTrusted),
    "client.update": (clients.ClientUpdateParams, Ok),
    "client.respond": (clients.ClientRespondParams, Ok),
    "client.shows": (clients.ClientShowsParams, clients.ClientShows),
    "notebook.changes": (notebooks.NotebookChangesParams, notebooks.NotebookChanges),
    "notebook.accept": (notebooks.NotebookMarksParams, notebooks.NotebookAccepted),
    "notebook.reject": (notebooks.NotebookMarksParams, notebooks.NotebookReverted),
    "notebook.undo": (notebooks.NotebookTurnParams, notebooks.NotebookReverted),
    "notebook.put_back": (notebooks.NotebookTurnParams, notebooks.NotebookReverted),
    "memory.search": (memory.MemorySearchParams, memory.MemoryResults),
    "kernel.variables": (kernels.KernelVariablesParams, kernels.KernelVariableList),
}
"""Every method with the models of its parameters and of its result."""

EVENTS: dict[str, type[Wire]] = {
    "chat.started": events.ChatStartedData,
    "chat.delta": events.ChatDeltaData,
    "tool.started": events.ToolStartedData,
    "tool.progress": events.ToolProgressData,
    "tool.finished": events.ToolFinishedData,
    "exec.approval_request": approvals.ApprovalInfo,
    "exec.approval_resolved": events.ApprovalResolvedData,
    "grants.updated": approvals.GrantsUpdatedData,
    "chat.question": questions.QuestionInfo,
    "chat.question_resolved": questions.QuestionResolvedData,
    "chat.note": events.ChatNoteData,
    "chat.steered": events.ChatSteeredData,
    "chat.joined": events.ChatJoinedData,
    "chat.final": events.ChatFinalData,
    "chat.error": events.ChatErrorData,
    "chat.aborted": events.ChatAbortedData,
    "session.updated": events.SessionUpdatedData,
    "notebook.changes_updated": notebooks.NotebookChangesUpdatedData,
    "skills.updated": skills.SkillsUpdatedData,
    "skills.run_started": skills.SkillRunInfo,
    "skills.run_progress": skills.SkillRunProgressData,
    "skills.run_finished": skills.SkillRunInfo,
    "client.request": clients.ClientRequest,
}
"""Every event with the model of its data."""
