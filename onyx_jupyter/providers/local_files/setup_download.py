"""Downloads a model for all users of this installation; run by set-up and image builds.

`python -m onyx_jupyter.providers.local_files.setup_download 1.5b` (or 0.5b, a model's id, none; `--into FOLDER`) prints
the outcome in one line; exit code 1 if the model could not be downloaded, 2 if there is no such model.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from onyx_jupyter.errors import OnyxError
from onyx_jupyter.providers.local_files.catalogue import CATALOGUE, CatalogueModel, megabytes, model_named
from onyx_jupyter.providers.local_files.download_lock import DownloadedElsewhere
from onyx_jupyter.providers.local_files.file_download import FileDownload
from onyx_jupyter.providers.local_files.sources import sources_of
from onyx_jupyter.providers.local_files.storage_folders import find_file, shared_folders

NOTHING = "none"
_REPORT_EVERY_S = 10.0
_READABLE_BY_ALL = 0o644
# A set-up should soon report that there is no network; the sidebar fetches later with more patience.
_WAITS_S = (1.0, 2.0)
_PIP_RETRIES = ("PIP_RETRIES", "1")


def main(arguments: Sequence[str] | None = None, catalogue: Sequence[CatalogueModel] = CATALOGUE) -> int:
    """The process's exit code."""
    sizes = {model.name.rpartition("-")[2]: model for model in catalogue}
    parser = argparse.ArgumentParser(description="Download a model that runs on this machine.")
    parser.add_argument("model", help=f"{', '.join(sizes)}, a model's id, or {NOTHING}")
    parser.add_argument(
        "--into", type=Path, default=shared_folders()[0], help="target folder; default: the environment's own"
    )
    options = parser.parse_args(arguments)
    if options.model == NOTHING:
        return 0
    model = sizes.get(options.model) or model_named(options.model, catalogue)
    if model is None:
        _print(f'there is no model "{options.model}". There are: {", ".join(sizes)}, {NOTHING}.')
        return 2
    if find_file(model, [options.into]) is not None:
        return 0
    os.environ.setdefault(*_PIP_RETRIES)
    try:
        options.into.mkdir(parents=True, exist_ok=True)
        asyncio.run(_fetch(model, options.into))
    except (OnyxError, DownloadedElsewhere, OSError) as problem:
        _print(f"{' '.join(str(problem).split())} Onyx works without it; you can download it later from the sidebar.")
        return 1
    except KeyboardInterrupt:
        return 1
    return 0


async def _fetch(model: CatalogueModel, folder: Path) -> None:
    started = last_reported_at = time.monotonic()

    def report(done_bytes: int, source: str | None) -> None:
        nonlocal last_reported_at
        if source is not None and time.monotonic() - last_reported_at >= _REPORT_EVERY_S:
            last_reported_at = time.monotonic()
            _print(f"{megabytes(done_bytes)} of {megabytes(model.size_bytes)} from {source}")

    sources = sources_of(model, folder, os.environ.get("ONYX_LOCAL__MODELSURL"))
    path = await FileDownload(model, folder, sources, report, waits_s=_WAITS_S).run()
    path.chmod(_READABLE_BY_ALL)
    _print(f"{model.title} is ready ({megabytes(model.size_bytes)}, {time.monotonic() - started:.0f} s).")


def _print(words: str) -> None:
    sys.stdout.write(f"Local model: {words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
