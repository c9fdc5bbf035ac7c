"""Stands in for an unavailable model, so that the run ends with the reason shown to the user."""

from __future__ import annotations

from onyx_jupyter.errors import ModelError
from onyx_jupyter.protocols import ModelEvent, ModelRequest


class UnavailableModel:
    """A model that answers every request with the error with which opening it failed."""

    light = False
    tiny = False
    context_window = 128_000

    def __init__(self, model_id: str, error: ModelError) -> None:
        self.id = model_id
        self._error = error

    def stream(self, request: ModelRequest) -> UnavailableModel:
        """Returns a stream that raises ModelError at its first event."""
        return self

    def __aiter__(self) -> UnavailableModel:
        return self

    async def __anext__(self) -> ModelEvent:
        raise self._error

    async def aclose(self) -> None:
        """Nothing to close."""
