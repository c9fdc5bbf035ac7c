"""Who or what started a run, in one value: as a message brings it, and as the transcript keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, cast, get_args

OriginKind = Literal["sidebar", "cell", "session", "job", "key", "channel", "run"]
"""A person in the sidebar, a cell, another session; and what is to come: a schedule's job, a program with a key, a
channel, another run."""

_KINDS = frozenset(get_args(OriginKind))


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """`typed`: a person wrote the words. `interactive`: somebody is there to answer the agent's questions.

    `session` is the one that sent the message (sessionKey, agentId, runId), `kernel` that of the cell that asks and
    waits (kernelId, name, path where it is known). Of kind `run`, it was sent by a run that waits for the answer.
    """

    kind: OriginKind = "sidebar"
    typed: bool = False
    interactive: bool = True
    session: Mapping[str, Any] | None = None
    kernel: Mapping[str, Any] | None = None

    @classmethod
    def of_cell(cls, kernel: Mapping[str, Any], *, typed: bool = False) -> Self:
        return cls("cell", typed=typed, kernel=kernel)

    @classmethod
    def of_session(cls, sender: Mapping[str, Any], *, interactive: bool) -> Self:
        return cls("session", interactive=interactive, session=sender)

    @classmethod
    def of_run(cls, parent: Mapping[str, Any], *, interactive: bool) -> Self:
        """A child of the run that `parent` names: it goes when that one goes, and spends what that one may spend."""
        return cls("run", interactive=interactive, session=parent)

    @property
    def parent_run(self) -> str | None:
        """The id of the run that started this one and waits for it."""
        run_id = self.session.get("runId") if self.kind == "run" and self.session is not None else None
        return run_id if isinstance(run_id, str) and run_id else None

    @classmethod
    def read(cls, meta: Mapping[str, Any]) -> Self:
        """From what stands beside a message; also of a version that wrote no kind. What makes no sense is left out."""
        session, kernel = _mapping(meta.get("from")), _mapping(meta.get("kernel"))
        known = "session" if session is not None else "cell" if kernel is not None else "sidebar"
        kind = meta.get("origin")
        return cls(
            kind=cast(OriginKind, kind if isinstance(kind, str) and kind in _KINDS else known),
            typed=meta.get("typed") is True,
            interactive=meta.get("interactive") is not False,
            session=session,
            kernel=kernel,
        )

    def as_meta(self) -> dict[str, Any]:
        """What stands beside the message, in the words that older versions read as well."""
        said = {"from": self.session, "kernel": self.kernel, "typed": self.typed}
        unattended = {} if self.interactive else {"interactive": False}
        return {"origin": self.kind, **{name: value for name, value in said.items() if value}, **unattended}

    @property
    def is_person(self) -> bool:
        """Whether a person typed it in the sidebar and is there: of nothing else is anything remembered unasked.

        What a cell or a program sent may come from anywhere.
        """
        return self.kind == "sidebar" and self.typed and self.interactive


def _mapping(value: Any) -> Mapping[str, Any] | None:
    return value if isinstance(value, Mapping) else None
