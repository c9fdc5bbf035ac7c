"""What a caller may do at most. A browser tab of the server's user may do everything; a program only a part."""

from __future__ import annotations

from typing import Literal

Scope = Literal["read", "chat", "admin"]
"""`read` only looks. `chat` sends messages, answers the agent's questions and denies approvals. `admin` allows, trusts,
runs and changes stored data: everything that a person is asked about."""

ALL_SCOPES: frozenset[Scope] = frozenset({"read", "chat", "admin"})
