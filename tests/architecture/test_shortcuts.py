"""Our keyboard shortcuts conflict neither with JupyterLab's nor with one another."""

import json
import sysconfig
from pathlib import Path

OURS = Path(__file__).parents[2] / "labextension" / "schema"
JUPYTERLAB = Path(sysconfig.get_path("data")) / "share" / "jupyter" / "lab" / "schemas"


def keys_in(folder: Path) -> list[tuple[str, ...]]:
    """Every shortcut's keys, modifiers in one order."""
    schemas = [json.loads(path.read_text("utf-8")) for path in folder.rglob("*.json")]
    shortcuts = [one for schema in schemas for one in schema.get("jupyter.lab.shortcuts", ())]
    return [tuple(sorted(chord.split())) for one in shortcuts for chord in one["keys"]]


def test_shortcuts_do_not_conflict() -> None:
    ours, theirs = keys_in(OURS), set(keys_in(JUPYTERLAB))
    assert len(ours) > 5
    assert ("Accel", "S") in theirs
    assert sorted(set(ours)) == sorted(ours)
    assert theirs.isdisjoint(ours)
