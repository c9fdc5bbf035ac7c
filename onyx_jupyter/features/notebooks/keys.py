"""Service keys for this feature and the surfaces. Keys that other features use are in `operations.keys`."""

from __future__ import annotations

from onyx_jupyter.features.notebooks.review import NotebookReview
from onyx_jupyter.operations.dependencies import Key

NOTEBOOK_REVIEW: Key[NotebookReview] = Key("review of notebooks")
