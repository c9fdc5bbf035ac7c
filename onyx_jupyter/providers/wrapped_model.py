"""The base of models that stand before another one, and tell of themselves what that one does."""

from __future__ import annotations

from onyx_jupyter.protocols import Model


class WrappedModel:
    """`_model` is the one behind."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def id(self) -> str:
        return self._model.id

    @property
    def light(self) -> bool:
        return self._model.light

    @property
    def tiny(self) -> bool:
        return self._model.tiny

    @property
    def context_window(self) -> int:
        return self._model.context_window
