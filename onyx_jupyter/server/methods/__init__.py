"""What a client can ask for: one function a method, and the one list of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from onyx_jupyter.server.methods import (
    approvals,
    chat,
    clients,
    kernels,
    memory,
    models,
    notebooks,
    questions,
    sessions,
    skills,
    status,
)

HANDLERS: dict[str, Callable[[Any, Any], Awaitable[dict[str, Any]]]] = {
    "health.check": status.health_check,
    "agents.list": status.agents_list,
    "models.list": models.models_list,
    "sessions.create": sessions.create,
    "sessions.list": sessions.list_sessions,
    "sessions.get": sessions.get,
    "sessions.subscribe": sessions.subscribe,
    "chat.send": chat.send,
    "chat.history": chat.history,
    "chat.abort": chat.abort,
    "context.preview": chat.preview_context,
    "exec.approve": approvals.approve,
    "exec.deny": approvals.deny,
    "approvals.list": approvals.list_approvals,
    "grants.list": approvals.list_grants,
    "grants.revoke": approvals.revoke_grant,
    "questions.answer": questions.answer,
    "questions.list": questions.list_questions,
    "skills.list": skills.list_skills,
    "skills.get": skills.get,
    "skills.trust": skills.trust,
    "skills.run": skills.run,
    "skills.stop": skills.stop,
    "skills.runs": skills.list_runs,
    "skills.result": skills.result,
    "skills.copy": skills.copy,
    "skills.propose": skills.propose,
    "skills.save": skills.save,
    "client.update": clients.update,
    "client.respond": clients.respond,
    "client.shows": clients.shows,
    "notebook.changes": notebooks.changes,
    "notebook.accept": notebooks.accept,
    "notebook.reject": notebooks.reject,
    "notebook.undo": notebooks.undo,
    "notebook.put_back": notebooks.put_back,
    "memory.search": memory.search,
    "kernel.variables": kernels.variables,
}
