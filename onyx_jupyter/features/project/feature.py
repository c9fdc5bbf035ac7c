"""What the project in the server's root tells Onyx to do."""

from __future__ import annotations

from onyx_jupyter.features.project.operations import OPERATIONS
from onyx_jupyter.features.project.wire import ProjectUpdatedData
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.parts import Parts
from onyx_jupyter.runtime.keys import AUDIT, CONFIGURED, HOST, PROJECT_FILES, STREAMS
from onyx_jupyter.runtime.project_files import ProjectFiles


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
    return Built({PROJECT_FILES: files})


FEATURE = Feature(
    "project",
    make,
    requires=(HOST, CONFIGURED, AUDIT, STREAMS),
    provides=(PROJECT_FILES,),
    operations=OPERATIONS,
    events=(EventType("project.updated", ProjectUpdatedData),),
)
