"""A server that is killed (SIGKILL) while it remembers: nothing twice, nothing lost, and its person's word counts."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.features.memory.test_consolidation import (
    APRIL,
    MEMORY,
    Writer,
    history_of,
    house,
    lines_of_kind,
    memory_of,
    wants,
)
from tests.runs.house import House
from tests.waiting import until

REPOSITORY = Path(__file__).parents[3]
DONE = "Agreed on the fiscal year that starts in April"
ENTRY = "- The fiscal year starts in April\n"
SERVER = """
import asyncio, os, signal, sys
from pathlib import Path
from onyx_jupyter.memory import file_replacement
from onyx_jupyter.memory.kept_versions import KeptVersions
from onyx_jupyter.features.memory import consolidation
from onyx_jupyter.features.memory.notes import MemoryNotes
from tests.features.memory import test_consolidation as here
from tests.waiting import until

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def dying(owner, name, *, file="", after=False):
    real = getattr(owner, name)

    def call(*arguments, **more):
        if file and file not in [Path(one).name for one in arguments if isinstance(one, (str, Path))]:
            return real(*arguments, **more)
        if after:
            real(*arguments, **more)
        die()

    setattr(owner, name, call)

async def main():
    writer = here.Writer({reply})
    one = here.house(Path(sys.argv[1]), writer)
    {dies}
    key = await one.session()
    print(key, flush=True)
    await one.run(key, here.SAID)
    {then}
    await asyncio.Event().wait()

asyncio.run(main())
"""
STEPS = {
    "before the file": 'dying(file_replacement, "write_bytes_atomically", file="MEMORY.md")',
    "between the file and its version": 'dying(KeptVersions, "wrote", file="MEMORY.md")',
    "behind the version": 'dying(KeptVersions, "wrote", file="MEMORY.md", after=True)',
    "between HISTORY.md and its version": 'dying(KeptVersions, "wrote", file="HISTORY.md")',
    "before the note": 'dying(MemoryNotes, "complete")',
}


def killed_server(folder: Path, **parts: str) -> str:
    """The key of the session that it was looking through."""
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", SERVER.format(**{"then": "", "dies": "", **parts}), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        key = server.stdout.readline().strip()
        assert server.wait(60) == -signal.SIGKILL
    assert key
    return key


async def restarted(folder: Path, writer: Writer, key: str) -> House:
    """A server on what the killed one left, when it has told what it remembered."""
    one = house(folder, writer, consolidationIdleMs=0)
    await one.onyx.ready()
    await until(lambda: lines_of_kind(one, key, "note"))
    return one


async def undone(one: House, key: str) -> str | None:
    """Why it was not undone, None where it was."""
    (note,) = lines_of_kind(one, key, "note")
    answer = await one.onyx.memory_notes.undo(key, note["meta"]["data"]["id"], "ada")
    return None if answer.ok else answer.reason


async def test_kill_during_model_answer_repeats_request(tmp_path: Path) -> None:
    key = killed_server(tmp_path / "a", reply="[hang := here.Hang()]", then="await until(hang.reached.is_set); die()")
    writer = Writer(wants(APRIL))
    one = await restarted(tmp_path / "a", writer, key)
    assert len(writer.asked) == 1
    assert memory_of(one).count("fiscal year") == 1
    await one.close()


@pytest.mark.parametrize("step", STEPS)
async def test_kill_at_any_step_neither_repeats_nor_loses_anything(tmp_path: Path, step: str) -> None:
    left = tmp_path / "left"
    key = killed_server(left, reply=f"here.wants(here.APRIL, history={DONE!r})", dies=STEPS[step])
    file = left / "home/workspace/MEMORY.md"
    was_written = ENTRY in file.read_text("utf-8")
    assert was_written == (step != "before the file")
    edits = {"none": file.read_text("utf-8"), "adds": file.read_text("utf-8") + "- Mine\n"}
    if was_written and step != "between the file and its version":  # then nothing tells that it ever was there
        edits["takes it out"] = MEMORY
        edits["takes it out and adds"] = MEMORY + "- Mine\n"
    for name, text in edits.items():
        shutil.copytree(left, tmp_path / name)
        (tmp_path / name / "home/workspace/MEMORY.md").write_text(text, "utf-8")
        writer = Writer()
        one = await restarted(tmp_path / name, writer, key)
        (note,) = lines_of_kind(one, key, "note")
        assert [done["content"] for done in note["meta"]["data"]["done"]] == [APRIL["content"]], name
        assert writer.asked == [], "asked once"
        assert memory_of(one).count(ENTRY) == ("takes" not in name), name
        assert ("- Mine\n" in memory_of(one)) == ("adds" in name)
        assert history_of(one).count(DONE) == 1
        why = await undone(one, key)
        if name == "none" or not was_written:
            assert why is None
            assert memory_of(one) == text.replace(ENTRY, "")
            assert DONE not in history_of(one)
        else:
            assert "has changed since" in (why or "") or "was not kept" in (why or "")
            assert memory_of(one) == text, "a person's own text stays"
        await one.close()


async def test_line_removed_from_history_stays_removed(tmp_path: Path) -> None:
    key = killed_server(
        tmp_path / "a", reply=f"here.wants(here.APRIL, history={DONE!r})", dies=STEPS["before the note"]
    )
    file = tmp_path / "a/home/workspace/HISTORY.md"
    file.write_text("# Mine\n", "utf-8")
    one = await restarted(tmp_path / "a", Writer(), key)
    assert history_of(one) == "# Mine\n"
    await one.close()
