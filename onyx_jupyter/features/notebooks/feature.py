"""Notebooks and their kernels, with review and undo of changes."""

from __future__ import annotations

from onyx_jupyter.features.notebooks.create_tool import notebook_create_tool
from onyx_jupyter.features.notebooks.edit_tools import (
    notebook_delete_cell_tool,
    notebook_edit_cell_tool,
    notebook_insert_cell_tool,
    notebook_move_cell_tool,
)
from onyx_jupyter.features.notebooks.kernel_tools import kernel_execute_tool, kernel_inspect_tool, kernel_variables_tool
from onyx_jupyter.features.notebooks.operations import OPERATIONS
from onyx_jupyter.features.notebooks.read_tools import (
    notebook_find_tool,
    notebook_list_tool,
    notebook_outline_tool,
    notebook_read_tool,
)
from onyx_jupyter.features.notebooks.review_service import NOTEBOOK_REVIEW, NotebookReview
from onyx_jupyter.features.notebooks.run_tools import (
    notebook_restart_kernel_tool,
    notebook_run_all_tool,
    notebook_run_cell_tool,
)
from onyx_jupyter.features.notebooks.wire import NotebookChangesUpdatedData
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import AUDIT, CONFIGURED, HOST, PENDING_REVIEW, RECORDED_NOTEBOOKS, RUNS, STREAMS
from onyx_jupyter.toolsets.toolset import FixedToolset


def make(parts: Parts) -> Built:
    host, configured, runs = parts.get(HOST), parts.get(CONFIGURED), parts.later(RUNS)
    review = NotebookReview(
        host.home,
        host.notebooks,
        host.places,
        is_under_way=lambda run_id: runs().is_under_way(run_id),
        config=lambda: configured.settings.config.notebooks,
        audit=parts.get(AUDIT),
        broadcast=parts.get(STREAMS).broadcast,
        clock=host.clock,
        ids=host.ids,
    )
    return Built(
        {NOTEBOOK_REVIEW: review, RECORDED_NOTEBOOKS: review.notebooks_for, PENDING_REVIEW: review.pending_decisions},
        start=review.prune,
    )


FEATURE = Feature(
    "notebooks",
    make,
    requires=(HOST, CONFIGURED, AUDIT, STREAMS),
    provides=(NOTEBOOK_REVIEW, RECORDED_NOTEBOOKS, PENDING_REVIEW),
    operations=OPERATIONS,
    events=(EventType("notebook.changes_updated", NotebookChangesUpdatedData),),
    toolsets=(
        FixedToolset(
            "notebook",
            (
                notebook_outline_tool,
                notebook_read_tool,
                notebook_insert_cell_tool,
                notebook_edit_cell_tool,
                notebook_run_cell_tool,
                notebook_list_tool,
                notebook_find_tool,
                notebook_create_tool,
                notebook_delete_cell_tool,
                notebook_move_cell_tool,
                notebook_run_all_tool,
                notebook_restart_kernel_tool,
            ),
        ),
        FixedToolset("kernel", (kernel_variables_tool, kernel_inspect_tool, kernel_execute_tool)),
    ),
    essential=True,
)
