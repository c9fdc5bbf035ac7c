"""What can be asked of Onyx, by the part that it belongs to: each operation is declared beside its handler."""

from __future__ import annotations

from onyx_jupyter.operations.operation import Operations
from onyx_jupyter.server.methods import (
    approvals,
    chat,
    clients,
    kernels,
    knowledge,
    local_models,
    memory,
    models,
    notebooks,
    project,
    questions,
    sessions,
    skill_questions,
    skills,
    status,
)

OPERATIONS = Operations(
    operation
    for part in (
        status,
        models,
        local_models,
        sessions,
        chat,
        approvals,
        questions,
        skills,
        skill_questions,
        project,
        clients,
        notebooks,
        memory,
        knowledge,
        kernels,
    )
    for operation in part.OPERATIONS
)
"""All of them. The socket's methods and the types of the front end come from here."""
