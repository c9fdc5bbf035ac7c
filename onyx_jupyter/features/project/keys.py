"""What this feature gives to itself and to the surfaces, by name. What other features use is in `operations.keys`."""

from __future__ import annotations

from onyx_jupyter.features.project.files import ProjectFiles
from onyx_jupyter.operations.parts import Key

PROJECT_FILES: Key[ProjectFiles] = Key("project files")
