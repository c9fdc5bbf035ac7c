"""Service keys for this feature and the surfaces. Keys that other features use are in `operations.keys`."""

from __future__ import annotations

from onyx_jupyter.features.project.files import ProjectFiles
from onyx_jupyter.operations.dependencies import Key

PROJECT_FILES: Key[ProjectFiles] = Key("project files")
