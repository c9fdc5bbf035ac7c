"""Who or what started a run, as one value: read from a message, and kept in the transcript."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, cast, get_args

OriginKind = Literal["sidebar", "cell", "session", "job", "heartbeat", "key", "channel", "run"]
"""A person in the sidebar, a cell, another session, a scheduled job, a heartbeat, another run; and planned ones: a
program with a key, a channel.
"""

_KINDS = frozenset(get_args(OriginKind))


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """`typed`: a person wrote the words. `interactive`: someone is there to answer the agent's questions.

    `session` is the one that sent the message (sessionKey, agentId, runId), `kernel` that of the cell that asks and
    waits (kernelId, name, path if known). Kind `run`: sent by a run that waits for the answer. `job` is what sent the
    message by itself (id, key of the run, `policy`: what it may do unattended, `calls`: what it does before a model is
    asked, `asks`: whether one is).
    """

    kind: OriginKind = "sidebar"
    typed: bool = False
    interactive: bool = True
    session: Mapping[str, Any] | None = None
    kernel: Mapping[str, Any] | None = None
    job: Mapping[str, Any] | None = None

    @classmethod
    def of_cell(cls, kernel: Mapping[str, Any], *, typed: bool = False) -> Self:
        return cls("cell", typed=typed, kernel=kernel)

    @classmethod
    def of_session(cls, sender: Mapping[str, Any], *, interactive: bool) -> Self:
        return cls("session", interactive=interactive, session=sender)

    @classmethod
    def of_run(cls, parent: Mapping[str, Any], *, interactive: bool) -> Self:
        """A child of the run that `parent` names: it ends with it and shares its budget."""
        return cls("run", interactive=interactive, session=parent)

    @classmethod
    def of_job(cls, job: Mapping[str, Any], kind: Literal["job", "heartbeat"] = "job") -> Self:
        """Sent by the clock: nobody is there."""
        return cls(kind, interactive=False, job=job)

    @property
    def is_unattended(self) -> bool:
        """Whether nobody is there who could allow anything."""
        return self.kind in ("job", "heartbeat")

    @property
    def parent_run(self) -> str | None:
        """The id of the run that started this one and waits for it."""
        run_id = self.session.get("runId") if self.kind == "run" and self.session is not None else None
        return run_id if isinstance(run_id, str) and run_id else None

    @classmethod
    def read(cls, meta: Mapping[str, Any]) -> Self:
        """Reads a message's `meta`, also from versions that wrote no kind. Ignores invalid values."""
        session, kernel, job = (_mapping(meta.get(name)) for name in ("from", "kernel", "job"))
        known = "session" if session is not None else "cell" if kernel is not None else "sidebar"
        kind = meta.get("origin")
        return cls(
            kind=cast(OriginKind, kind if isinstance(kind, str) and kind in _KINDS else known),
            typed=meta.get("typed") is True,
            interactive=meta.get("interactive") is not False,
            session=session,
            kernel=kernel,
            job=job,
        )

    def as_meta(self) -> dict[str, Any]:
        """The message's `meta`, in a form that older versions can read as well."""
        said = {"from": self.session, "kernel": self.kernel, "job": self.job, "typed": self.typed}
        unattended = {} if self.interactive else {"interactive": False}
        return {"origin": self.kind, **{name: value for name, value in said.items() if value}, **unattended}

    @property
    def is_person(self) -> bool:
        """Whether a person typed it in the sidebar and is present: nothing else is remembered without being asked.

        What a cell or a program sent may come from anywhere.
        """
        return self.kind == "sidebar" and self.typed and self.interactive


def _mapping(value: Any) -> Mapping[str, Any] | None:
    return value if isinstance(value, Mapping) else None
