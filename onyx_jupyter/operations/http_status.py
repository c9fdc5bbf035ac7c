"""The HTTP status codes of errors.

Source: RFC 9110, section 15 (https://www.rfc-editor.org/rfc/rfc9110#section-15).
"""

from __future__ import annotations

from onyx_jupyter.errors import (
    AlreadyResolved,
    ConfigChanged,
    ConfigError,
    DocumentReaderUnavailable,
    DocumentUnreadable,
    EmbeddingError,
    FeatureUnavailable,
    Forbidden,
    IndexUnavailable,
    InvalidRequest,
    MemoryConflict,
    ModelError,
    NotFound,
    OnyxError,
    ProjectFileChanged,
    RunTimedOut,
    SessionBusy,
    StorageError,
    ToolError,
)

# The first that fits counts: subclasses come before their base.
_STATUS: tuple[tuple[type[OnyxError], int], ...] = (
    (InvalidRequest, 400),
    (Forbidden, 403),
    (NotFound, 404),
    (AlreadyResolved, 409),
    (SessionBusy, 409),
    (ProjectFileChanged, 409),
    (MemoryConflict, 409),
    (ConfigChanged, 409),
    (DocumentUnreadable, 422),
    (ToolError, 422),
    (ConfigError, 500),
    (ModelError, 502),
    (EmbeddingError, 502),
    (FeatureUnavailable, 503),
    (IndexUnavailable, 503),
    (DocumentReaderUnavailable, 503),
    (RunTimedOut, 504),
    (StorageError, 507),
)
INTERNAL = 500


def status_of(error: OnyxError) -> int:
    """The status code of a response with this error; 500 if no other fits."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), INTERNAL)
