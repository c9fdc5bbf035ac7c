"""What Onyx runs on: the server's folders and services."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from onyx_jupyter.agent.processor import Processor
from onyx_jupyter.agents.settings import Settings
from onyx_jupyter.clock import Clock, IdSource, SystemClock
from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.config.paths import Home
from onyx_jupyter.notebook.file_access import NotebookPlaces
from onyx_jupyter.protocols import Embeddings, Kernels, Models, Notebooks
from onyx_jupyter.providers.continuation import Continuation
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.retry import RetryDelays
from onyx_jupyter.providers.settings import ModelsSettings
from onyx_jupyter.providers.subscriptions.copilot import Copilot
from onyx_jupyter.runs.processors import run_processors
from onyx_jupyter.security.drive_folders import DriveFolders
from onyx_jupyter.skills.packaged import recorded_hashes
from onyx_jupyter.toolsets.context import no_tab
from onyx_jupyter.toolsets.toolset import Toolset


async def _no_notebook(kernel_id: str) -> str | None:
    """Without kernels, none belongs to a notebook."""
    return None


@dataclass(frozen=True)
class Host:
    """One server, as Onyx sees it.

    `templates` holds a new workspace's files, `packaged_skills` the skills that come with the package and
    `recorded_skills` their hashes. `open_notebooks` returns the notebooks open in tabs and the active one,
    `open_folder` the folder shown there; `show_notebook` opens one there, and `notebook_of` returns the one that runs
    in a kernel; `kernels` are those of the notebooks and `places` their files. `drive` is what JupyterLab shows of
    Onyx's own files; `secrets` returns further secrets to hide (value → kind); `on_settings` is called on each change
    of the configuration; `ceiling` is the most that the server's administrator allows.

    `installed_toolsets` are those of other packages.

    The rest can be replaced in tests and benchmarks: `toolsets` instead of the features' own, `open_models` and
    `embeddings` instead of the configured ones, `waits` for a busy provider, `copilot` with GitHub's addresses.
    """

    home: Home
    server_root: Path
    notebooks: Notebooks
    templates: Path
    open_notebooks: Callable[[], tuple[list[str], str | None]] = lambda: ([], None)
    open_folder: Callable[[], str | None] = lambda: None
    show_notebook: Callable[[str], Awaitable[bool]] = no_tab
    notebook_of: Callable[[str], Awaitable[str | None]] = _no_notebook
    kernels: Kernels | None = None
    places: NotebookPlaces = field(default_factory=NotebookPlaces)
    drive: DriveFolders | None = None
    packaged_skills: Path | None = None
    recorded_skills: Callable[[], Mapping[str, str]] = recorded_hashes
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    secrets: Callable[[], Mapping[str, str]] = dict
    on_settings: Callable[[Settings], None] = lambda settings: None
    ceiling: Ceiling = field(default_factory=Ceiling)
    installed_toolsets: Sequence[Toolset] = ()
    clock: Clock = field(default_factory=SystemClock)
    waits: RetryDelays = field(default_factory=RetryDelays)
    open_models: Callable[[ModelsSettings], Models] | None = None
    copilot: Copilot = field(default_factory=Copilot)
    embeddings: Embeddings | None = None
    toolsets: Sequence[Toolset] | None = None
    processors: Callable[[Settings], Sequence[Processor]] = run_processors

    ids: IdSource = field(init=False, repr=False)
    """Ids that sort by this server's time."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", IdSource(self.clock))

    def models_opener(self) -> Callable[[ModelsSettings], Models]:
        """Opens the models of the settings; what was found out about servers outlives them."""
        return self.open_models or partial(ProviderModels, continuing=Continuation(), copilot=self.copilot)
