"""What this feature gives to itself and to the surfaces, by name. What other features use is in `operations.keys`."""

from __future__ import annotations

from onyx_jupyter.features.notebooks.review import NotebookReview
from onyx_jupyter.operations.parts import Key

NOTEBOOK_REVIEW: Key[NotebookReview] = Key("review of notebooks")
