"""Executed copies and records of skill runs, as they lie in their folder."""

import json
from pathlib import Path

import pytest

from onyx_jupyter.errors import StorageError
from onyx_jupyter.skills import run_record
from onyx_jupyter.skills.run_record import RunFolder, RunRecord


def test_too_large_copy_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_record, "MAX_COPY_BYTES", 100)
    folder = RunFolder(tmp_path)
    record = RunRecord(
        run_id="0" * run_record.ID_CHARS,
        skill="count",
        skill_hash="h",
        skill_path="count.ipynb",
        parameters={},
        started_at="2026-11-22T08:00:00Z",
        kernel="python3",
        by="person",
    )
    folder.copy_path(record).write_text(json.dumps({"cells": []}))
    assert folder.notebook(record) == {"cells": []}
    folder.copy_path(record).write_text(json.dumps({"cells": [], "metadata": {"x": "x" * 100}}))
    with pytest.raises(StorageError, match="larger than 100 bytes"):
        folder.notebook(record)
