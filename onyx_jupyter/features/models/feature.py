"""The available models."""

from __future__ import annotations

from onyx_jupyter.features.models.operations import OPERATIONS
from onyx_jupyter.operations.feature import Feature

FEATURE = Feature("models", operations=OPERATIONS)
