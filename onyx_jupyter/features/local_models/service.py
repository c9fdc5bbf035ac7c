"""Downloads of local models: combines the model files, the configuration and the administrator's ceiling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from onyx_jupyter.agents.allowed_models import allows_provider
from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.clock import Clock
from onyx_jupyter.config.ceiling import NOT_HERE
from onyx_jupyter.config.paths import Home
from onyx_jupyter.errors import ModelError
from onyx_jupyter.operations.dependencies import Key
from onyx_jupyter.providers.known_providers import LOCAL
from onyx_jupyter.providers.local_files.catalogue import CATALOGUE, CatalogueModel
from onyx_jupyter.providers.local_files.model_files import ModelFile, ModelFiles
from onyx_jupyter.providers.local_files.source import Source
from onyx_jupyter.providers.local_files.sources import sources_of
from onyx_jupyter.providers.local_weights import check_runtime

PROGRESS = "local_models.progress"
Broadcast = Callable[[str, dict[str, object]], None]
LOCAL_MODELS: Key[LocalModels] = Key("local models")


class LocalModels:
    """`files` are the known model files. `fetch` first checks that the administrator allows local models."""

    def __init__(
        self,
        home: Home,
        configured: Configured,
        broadcast: Broadcast,
        clock: Clock,
        catalogue: Sequence[CatalogueModel] = CATALOGUE,
    ) -> None:
        self._home = home
        self._configured = configured
        self.files = ModelFiles(
            home.models,
            self._sources,
            lambda file: broadcast(PROGRESS, file_data(file)),
            configured.release,
            clock,
            catalogue=catalogue,
        )

    async def fetch(self, model_id: str) -> ModelFile:
        """Starts or resumes the download of a model file. Raises: NotFound, ModelError (refused, not_found)."""
        if not allows_provider(self._configured.ceiling, self._configured.settings.config, LOCAL):
            raise ModelError(
                "refused",
                f"{NOT_HERE}: models that run on this machine, so {model_id} is not downloaded.",
                hint="Ask the administrator of this server.",
                permanent=True,
            )
        check_runtime()
        return await self.files.fetch(model_id)

    def _sources(self, model: CatalogueModel) -> Sequence[Source]:
        return sources_of(model, self._home.models, self._configured.settings.config.local.models_url)


def file_data(file: ModelFile) -> dict[str, Any]:
    """A model file in wire format."""
    model = file.model
    data = {
        "id": model.id,
        "title": model.title,
        "bytes": model.size_bytes,
        "licence": model.licence,
        "parameters": model.parameters,
        "contextTokens": model.context_tokens,
        "state": file.state,
        "doneBytes": file.done_bytes,
        "leastMemory": model.memory_bytes,
        "fitsMemory": file.fits_memory,
        "recommended": file.recommended,
        "removable": file.removable,
        "shared": file.is_shared,
    }
    path = str(file.path) if file.path else None
    more = {"source": file.source, "fetcher": file.fetcher, "error": file.error, "path": path}
    return data | {name: value for name, value in more.items() if value is not None}
