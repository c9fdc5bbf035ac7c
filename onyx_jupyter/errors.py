"""Every error that Onyx raises on purpose. Messages suit no particular interface; the interfaces translate them.

OnyxError                  what failed, with which value, and what to do next
├── ConfigError            onyx.json or the environment (key, value, line)
├── StorageError           the disk refused (full, read-only, locked)
├── InvalidRequest         a caller's parameter is wrong (field)
├── Forbidden              the caller lacks permission (scope)
├── NotFound               a session, run, approval, agent or model that does not exist
├── SessionBusy            another server is running this session
├── AlreadyResolved        an approval that was answered before
├── ProjectFileChanged     a project's instructions differ from those the user was shown
├── RunTimedOut              a run exceeded its time limit
├── DocumentUnreadable     a file or page that cannot be read as a document
├── DocumentReaderUnavailable     documents cannot be read now, whatever they contain
├── MagicError             a request in a cell cannot be done (code: usage, variable, no_server, …)
├── ModelError             a provider failed (code, hint, retry_after_s)
│   └── EmptyAnswer        a model answered with neither words nor a call
└── ToolError              a tool failed: becomes a result for the model, never the end of a turn
    ├── InvalidArguments   the call does not match the tool's schema
    ├── PathNotAllowed     outside the allowed roots
    ├── MemoryConflict     a memory file that has changed since it was read
    ├── AddressNotAllowed  a URL that is malformed, or leads into this machine or its network
    ├── SkillNotReady      a skill that cannot be used now (code: skill_untrusted, skill_missing, skill_broken, …)
    └── NotebookError      a notebook operation (code: not_found, no_cell, stale, no_kernel, not_notebook, …)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Self

ModelErrorCode = Literal[
    "authentication",
    "rate_limit",
    "overflow",
    "refused",
    "not_found",
    "no_model",
    "timeout",
    "unavailable",
    "bad_response",
    "budget",
]


class OnyxError(Exception):
    """Base of all errors raised on purpose; `str(error)` is readable for people.

    `has_safe_message` says that the message quotes nobody but the caller: otherwise a model reads the message fenced.
    """

    code = "error"
    hint: str | None = None
    has_safe_message = False

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        if hint is not None:
            self.hint = hint

    def mark_message_safe(self) -> Self:
        """The error itself, after declaring that its message quotes nobody but the caller."""
        self.has_safe_message = True
        return self


class ConfigError(OnyxError):
    """A configuration value that cannot be used. `line` counts from 1 and is None for an environment variable."""

    code = "config"

    def __init__(self, message: str, *, key: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.key = key
        self.line = line


class StorageError(OnyxError):
    """The file system refused; nothing that was on disk before has been lost."""

    code = "storage"


class EmbeddingError(OnyxError):
    """No vectors could be made for a text, or they are invalid (NaN, another dimension)."""

    code = "embedding"

    def __init__(self, message: str, *, hint: str | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class IndexUnavailable(OnyxError):
    """The search index cannot be used now; the files that it was made from are intact."""

    code = "index"


class InvalidRequest(OnyxError):
    """A caller's parameter is wrong; `field` names it."""

    code = "invalid_request"

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class Forbidden(OnyxError):
    """This caller lacks permission; another one may have it."""

    code = "forbidden"


class FeatureUnavailable(OnyxError):
    """A feature of this server could not be created or started; the others work."""

    code = "feature_unavailable"


class NotFound(OnyxError):
    """The requested item does not exist."""

    code = "not_found"


class SessionBusy(OnyxError):
    """Another server on the same ONYX_HOME is running this session."""

    code = "session_busy"


class AlreadyResolved(OnyxError):
    """The approval was answered before: by a person, the timeout or the end of its run."""

    code = "already_resolved"


class ProjectFileChanged(OnyxError):
    """A project's instructions differ from what the user was shown and decided about."""

    code = "project_file_changed"


class RunTimedOut(OnyxError):
    """A run worked for longer than `runtime.defaultTimeoutMs`."""

    code = "timeout"


class DocumentUnreadable(OnyxError):
    """A document cannot be read: what is wrong with it, and what to do. The caller knows which one."""

    code = "document"


class DocumentReaderUnavailable(OnyxError):
    """The process that reads documents does not start; the documents are not at fault, and are intact."""

    code = "reading"


class MagicError(OnyxError):
    """A request in a cell cannot be done. IPython shows only the message: a stack would not help the user."""

    def __init__(self, code: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code

    def _render_traceback_(self) -> list[str]:
        """What IPython shows for the error instead of its stack."""
        return [f"Onyx: {self}", *([self.hint] if self.hint else [])]


class ModelError(OnyxError):
    """A provider failed. `retry_after_s` is the wait it asks for, in seconds; `permanent`: a retry would fail."""

    code: ModelErrorCode

    def __init__(
        self,
        code: ModelErrorCode,
        message: str,
        *,
        hint: str | None = None,
        retry_after_s: float | None = None,
        permanent: bool = False,
    ) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.retry_after_s = retry_after_s
        self.permanent = permanent


class EmptyAnswer(ModelError):
    """The model answered neither words nor a call."""

    def __init__(self, model_id: str) -> None:
        message = f"{model_id} sent an empty answer."
        super().__init__("bad_response", message, hint="Ask again, or choose another model.")


class ToolError(OnyxError):
    """A tool failed; the message goes back to the model as the call's result."""

    code = "tool_error"


class InvalidArguments(ToolError):
    """The call's arguments do not match the tool's schema; `wrong` names the arguments concerned, if known."""

    code = "invalid_arguments"
    has_safe_message = True

    def __init__(self, message: str, *, hint: str | None = None, wrong: Iterable[str] = ()) -> None:
        super().__init__(message, hint=hint)
        self.wrong = frozenset(wrong)


class PathNotAllowed(ToolError):
    """The path leads outside the allowed roots."""

    code = "path_not_allowed"
    has_safe_message = True


class MemoryConflict(ToolError):
    """A memory file changed since the content that a change was based on; `checksum` is of its current content."""

    code = "memory_conflict"
    has_safe_message = True

    def __init__(self, path: str, checksum: str) -> None:
        super().__init__(f"{path} has changed since it was read. Read it again, then redo the change.")
        self.path = path
        self.checksum = checksum


class AddressNotAllowed(ToolError):
    """The URL is malformed, or leads to an address that is not on the internet."""

    code = "address_not_allowed"


class SkillNotReady(ToolError):
    """A skill that is not trusted, has missing requirements or cannot be read. `state` is the skill's."""

    def __init__(self, state: str, message: str) -> None:
        super().__init__(message)
        self.code = f"skill_{state}"


class NotebookError(ToolError):
    """A notebook operation failed. `data` holds what a caller needs to continue (for `stale`: the current source)."""

    def __init__(self, code: str, message: str, *, data: dict[str, object] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data or {}
