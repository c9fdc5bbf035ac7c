"""What is kept of each run of a skill: the executed notebook and a small record.

`runs/<id>-<skill>.ipynb` is the executed copy, `runs/<id>-<skill>.json` its record, so that listing runs reads no
outputs. If a record is lost, the copy has the same data in its metadata `onyx.run`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from onyx_jupyter.errors import NotFound, StorageError
from onyx_jupyter.events import to_camel
from onyx_jupyter.storage.atomic_write import make_private_folder, write_text_atomically
from onyx_jupyter.storage.disk_errors import disk_errors

log = logging.getLogger(__name__)
Status = Literal["running", "ok", "failed", "stopped", "timeout", "interrupted"]
ID_CHARS = 26
# Each character that a run may keep can take four bytes on disk.
MAX_COPY_BYTES = 120_000_000


class Owner(BaseModel):
    """The server that a run belongs to: its process, and when that was started (seconds since 1970)."""

    model_config = ConfigDict(frozen=True)

    pid: int
    started: float


class RunRecord(BaseModel):
    """One run. `input_hash` is the SHA-256 of the skill's version, the parameters and the files that they name."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore", frozen=True)

    schema_version: Literal[1] = 1
    run_id: str
    skill: str
    skill_hash: str
    skill_path: str
    parameters: dict[str, Any]
    input_hash: str = ""
    started_at: str
    finished_at: str | None = None
    status: Status = "running"
    error: str | None = None
    kernel: str | None = None
    versions: dict[str, str] = Field(default_factory=dict)
    by: str
    session_key: str | None = None
    owner: Owner | None = None

    @property
    def stem(self) -> str:
        return f"{self.run_id}-{self.skill}"

    def plain(self) -> dict[str, Any]:
        """The record as it is written to the files."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class RunFolder:
    """`ONYX_HOME/runs`. Call it in threads, not in the event loop."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def copy_path(self, record: RunRecord) -> Path:
        """The path of the executed notebook."""
        return self._folder / f"{record.stem}.ipynb"

    def write(self, record: RunRecord) -> None:
        """Raises: StorageError."""
        make_private_folder(self._folder)
        text = json.dumps(record.plain(), ensure_ascii=False, indent=1)
        write_text_atomically(self._folder / f"{record.stem}.json", f"{text}\n")

    def find(self, run_id: str) -> RunRecord:
        """Raises: NotFound."""
        wanted = run_id if len(run_id) == ID_CHARS and run_id.isalnum() else None
        for stem in self.stems() if wanted else ():
            if stem.startswith(f"{run_id}-") and (record := self.read(stem)) is not None:
                return record
        raise NotFound(f"There is no skill run {run_id!r}.")

    def newest(self, name: str | None, limit: int) -> list[RunRecord]:
        """Newest first; only those of one skill if `name` is given."""
        found: list[RunRecord] = []
        for stem in self.stems():
            if name is not None and stem[ID_CHARS + 1 :] != name:
                continue
            record = self.read(stem)
            if record is not None:
                found.append(record)
            if len(found) >= limit:
                break
        return found

    def unfinished(self) -> list[RunRecord]:
        """The records marked as running, whether or not that is still true."""
        return [record for record in self.newest(None, limit=1_000_000) if record.status == "running"]

    def stems(self) -> list[str]:
        """File names of the runs without suffix, newest first."""
        try:
            stems = {path.stem for path in self._folder.iterdir() if path.suffix in (".ipynb", ".json")}
        except FileNotFoundError:
            return []
        except OSError as error:
            log.warning("The runs in %s could not be listed: %s", self._folder, error)
            return []
        return sorted((stem for stem in stems if not stem.startswith(".")), reverse=True)

    def read(self, stem: str) -> RunRecord | None:
        """The record, else the copy's metadata; None if neither can be read."""
        for path in self.files(stem):
            try:
                data = json.loads(path.read_bytes())
                return RunRecord.model_validate(data if path.suffix == ".json" else run_metadata(data))
            except FileNotFoundError:
                continue
            except (OSError, ValueError, RecursionError, ValidationError) as error:
                log.warning("The record of run %s could not be read: %s", path.name, error)
        return None

    def files(self, stem: str) -> tuple[Path, Path]:
        """The paths of record and copy, whether or not they exist."""
        return self._folder / f"{stem}.json", self._folder / f"{stem}.ipynb"

    def remove(self, stem: str) -> None:
        """Deletes the copy, then the record: interrupted between them, it is still a run. Raises: StorageError."""
        for path in reversed(self.files(stem)):
            with disk_errors("delete", path):
                path.unlink(missing_ok=True)

    def notebook(self, record: RunRecord) -> dict[str, Any]:
        """The executed copy. Raises: NotFound, StorageError."""
        path = self.copy_path(record)
        try:
            with disk_errors("read", path):
                if path.stat().st_size > MAX_COPY_BYTES:
                    raise StorageError(f"{path} is larger than {MAX_COPY_BYTES:,} bytes, the limit for reading it.")
                notebook = json.loads(path.read_bytes())
        except StorageError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                raise NotFound(f"The executed copy of run {record.run_id} no longer exists.") from error
            raise
        except (ValueError, RecursionError) as error:
            raise StorageError(f"{path} is damaged: {error}.") from error
        if not isinstance(notebook, dict):
            raise StorageError(f"{path} is damaged: it is not a notebook.")
        return notebook

    def mark(self, record: RunRecord) -> None:
        """Writes the outcome of a run into its record and its copy. Raises: StorageError."""
        try:
            notebook = self.notebook(record)
        except (NotFound, StorageError) as error:
            log.warning("The copy of run %s could not be marked: %s", record.run_id, error)
        else:
            metadata = _mapping(notebook, "metadata")
            marked = {**metadata, "onyx": {**_mapping(metadata, "onyx"), "run": record.plain()}}
            notebook = {**notebook, "metadata": marked}
            write_text_atomically(self.copy_path(record), json.dumps(notebook, ensure_ascii=False, indent=1) + "\n")
        self.write(record)


def run_metadata(notebook: object) -> Mapping[str, Any]:
    """The unchecked run metadata of an executed copy; empty if malformed."""
    found = notebook if isinstance(notebook, Mapping) else {}
    for name in ("metadata", "onyx", "run"):
        found = _mapping(found, name)
    return found


def _mapping(container: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = container.get(name)
    return found if isinstance(found, Mapping) else {}
