"""Who is signed in to the programs of providers, from the files that these keep. They are read, never written.

No token is taken from them: each program signs in by itself.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MAX_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ProgramLogin:
    """`account` is who is signed in, empty if the program does not say it."""

    account: str = ""


def login_of(agent: str, environment: Mapping[str, str]) -> ProgramLogin | None:
    """The login of `claude` or `codex` with a subscription; None if there is none. Looks at the disk."""
    read = _READERS.get(agent)
    try:
        return read(environment) if read is not None else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None  # no such file, or one of a version that keeps it otherwise


def _claude(environment: Mapping[str, str]) -> ProgramLogin | None:
    if environment.get("CLAUDE_CODE_OAUTH_TOKEN"):
        return ProgramLogin()
    folder = environment.get("CLAUDE_CONFIG_DIR")
    account = _json(Path(folder or Path.home()) / ".claude.json")["oauthAccount"]
    return ProgramLogin(_shown(account["emailAddress"]))


def _codex(environment: Mapping[str, str]) -> ProgramLogin | None:
    folder = environment.get("CODEX_HOME")
    tokens = _json((Path(folder) if folder else Path.home() / ".codex") / "auth.json")["tokens"]
    middle = tokens["id_token"].split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))
    return ProgramLogin(_shown(claims.get("email", "")))


_READERS: Mapping[str, Callable[[Mapping[str, str]], ProgramLogin | None]] = {"claude": _claude, "codex": _codex}


def _json(file: Path) -> Any:
    """Raises: OSError, ValueError."""
    with file.open("rb") as opened:
        return json.loads(opened.read(_MAX_BYTES))


def _shown(account: str) -> str:
    return "".join(char for char in account if char.isprintable())[:100]
