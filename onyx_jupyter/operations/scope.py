"""What a caller may do at most. A browser tab of the server's user may do everything; a program is given a part."""

from __future__ import annotations

from typing import Literal

Scope = Literal["read", "chat", "admin"]
"""`read` looks. `chat` talks, answers the agent's questions and says no. `admin` allows, trusts, runs and changes what
is kept: everything that a person is asked about."""

ALL_SCOPES: frozenset[Scope] = frozenset({"read", "chat", "admin"})
