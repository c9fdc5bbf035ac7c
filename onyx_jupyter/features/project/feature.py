"""The instructions of the project in the server's root."""

from __future__ import annotations

from onyx_jupyter.features.project.files import ProjectFiles
from onyx_jupyter.features.project.keys import PROJECT_FILES
from onyx_jupyter.features.project.operations import OPERATIONS
from onyx_jupyter.features.project.wire import ProjectUpdatedData
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import AUDIT, CONFIGURED, HOST, PROJECT_INSTRUCTIONS, STREAMS


def make(parts: Parts) -> Built:
    host = parts.get(HOST)
    files = ProjectFiles(
        host.server_root,
        host.home.trusted_project_files_file,
        parts.get(CONFIGURED).workspaces,
        host.clock,
        parts.get(AUDIT),
        parts.get(STREAMS).broadcast,
    )
    return Built({PROJECT_FILES: files, PROJECT_INSTRUCTIONS: files.instructions})


FEATURE = Feature(
    "project",
    make,
    requires=(HOST, CONFIGURED, AUDIT, STREAMS),
    provides=(PROJECT_FILES, PROJECT_INSTRUCTIONS),
    operations=OPERATIONS,
    events=(EventType("project.updated", ProjectUpdatedData),),
)
