"""Whatever a person, the agent and its tidying up do to a memory file, in whatever order and in between each other, on
a disk that fails, in a process that is killed: what its person saved is what the file holds, or one of its versions."""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import event, example, given
from hypothesis import strategies as st

from onyx_jupyter.errors import MemoryConflict, NotFound, StorageError, ToolError
from onyx_jupyter.features.memory.user_edits import UserEdits
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.targets import MEMORY_FILE, add_to_section
from onyx_jupyter.security.open_beneath import folder_beneath
from onyx_jupyter.storage.atomic_swap import leftovers
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.memory.interrupted import InterruptedStore, Killed, Steps

# What a person does, with whatever editor: in place, by a rename, as Notepad, or to be rid of it.
SAVES = st.sampled_from(["in place", "by a rename", "bytes", "empty", "delete"])
MEANWHILE = st.lists(st.one_of(st.none(), SAVES), max_size=3)
# What comes before the n-th thing that is done to the disk.
BETWEEN = st.builds(
    lambda start, events: {start + at: how for at, how in enumerate(events) if how is not None},
    st.integers(0, 20),
    st.lists(st.one_of(st.none(), SAVES, st.sampled_from(["error", "kill"])), max_size=7),
)
WORK = ["look", "add", "edit", "consolidate", "restore"]
ACTS = st.one_of(
    st.tuples(st.sampled_from(["save", "save on the drive"]), SAVES),
    st.tuples(st.sampled_from(WORK), MEANWHILE),
)
INTERRUPTED_ACTS = st.one_of(
    st.tuples(st.just("save"), SAVES),
    st.tuples(st.sampled_from(WORK), BETWEEN),
)


@dataclass
class Desk:
    """One MEMORY.md. `owed` is what its person saved and nobody but its person may have replaced unkept."""

    folder: Path
    owed: set[bytes] = field(default_factory=set)
    saves: int = 0

    def __post_init__(self) -> None:
        clock = FakeClock()
        self.versions = InterruptedStore(self.folder / "versions", clock)
        self.memory = MemoryFiles(self.folder / "workspace", clock, versions=self.versions)
        self.memory.folder.workspace.mkdir(exist_ok=True)
        self.file = self.memory.folder.workspace / MEMORY_FILE
        self.own_changes = UserEdits(lambda: [self.memory], lambda: None)

    def save(self, how: str) -> None:
        """A save that Onyx learns of only when it looks; one over the other before that is its person's own doing."""
        now = self.now()
        if now is not None and now not in self.versioned():
            self.owed.discard(now)
        self.saves += 1
        data = {"bytes": b"\xff\xfe\r\n%d" % self.saves, "empty": b""}.get(how, b"- save %d\r\n- tea\n" % self.saves)
        if how == "delete":
            self.file.unlink(missing_ok=True)
            return
        if how == "by a rename":
            (self.file.parent / "new").write_bytes(data)
            (self.file.parent / "new").replace(self.file)
        else:
            self.file.write_bytes(data)
        self.owed.add(data)

    def restarted(self) -> None:
        """After a kill: only the disk is as it was."""
        self.__post_init__()

    def lost(self) -> set[bytes]:
        return self.owed - self.versioned() - {self.now()}

    def now(self) -> bytes | None:
        return self.file.read_bytes() if self.file.exists() else None

    def versioned(self) -> set[bytes]:
        found = set()
        for version in self.memory.kept.history(MEMORY_FILE):
            with suppress(NotFound):  # it was deleted then
                found.add(self.memory.kept.content(MEMORY_FILE, version.number))
        return found


async def act(desk: Desk, what: str, more: str | Sequence[str | None]) -> None:
    memory = desk.memory
    if isinstance(more, str):
        if what == "save":
            return desk.save(more)
        async with desk.own_changes.around([desk.file]):
            assert (now := desk.now()) is None or now in desk.versioned(), "it is kept before anything else"
            desk.save(more)
        return None
    desk.versions.meanwhile = [meanwhile(desk, how) for how in more]
    if what == "look":
        await memory.versions(MEMORY_FILE)
    elif what == "add":
        await memory.write("- added", f"{MEMORY_FILE}#Facts")
    elif what == "edit":
        await asyncio.to_thread(edit, desk)
    elif what == "consolidate":
        now = await memory.content(MEMORY_FILE)
        text = add_to_section(now.text, None, "- tidied up")
        await memory.replace(MEMORY_FILE, text, based_on=now.checksum, author="consolidation")
    else:
        await memory.restore(MEMORY_FILE, 1, author="agent")
    return None


def meanwhile(desk: Desk, how: str | None) -> Callable[[], None]:
    return lambda: desk.save(how) if how is not None else None


def edit(desk: Desk) -> None:
    """As the file tools do."""
    state = desk.memory.state(desk.file)
    data = (desk.now() or b"") + b"- edited\n"
    with (
        desk.memory.writing(desk.file, data, author="agent", based_on=state) as refuse_other,
        folder_beneath(desk.file.parent, desk.file.parent) as folder,
    ):
        folder.replace(desk.file.name, data, 0o600, check=refuse_other)


@given(st.lists(ACTS, min_size=1, max_size=8))
@example([("save", "in place"), ("add", ["in place"])])
@example([("save", "in place"), ("edit", ["by a rename"])])
@example([("save", "in place"), ("consolidate", [None, "in place"]), ("restore", ["empty", "in place"])])
def test_user_save_is_the_file_or_a_version(acts: list[tuple[str, str | list[str | None]]]) -> None:
    async def run(folder: Path) -> None:
        desk = Desk(folder)
        for what, more in acts:
            try:
                await act(desk, what, more)
                event(f"{what}: done")
            except MemoryConflict:
                event(f"{what}: refused, since the file was saved meanwhile")
            except (ToolError, NotFound):
                event(f"{what}: cannot be done")
            desk.versions.meanwhile = []
            assert not desk.lost()
        await desk.memory.versions(MEMORY_FILE)
        assert not desk.lost()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))


@given(st.lists(INTERRUPTED_ACTS, min_size=1, max_size=6))
def test_kill_or_disk_failure_never_loses_user_save(
    acts: list[tuple[str, str | dict[int, str]]],
) -> None:
    async def run(folder: Path) -> None:
        desk = Desk(folder)
        desk.save("in place")
        for what, more in acts:
            if isinstance(more, str):
                desk.save(more)
                continue
            await interrupted(desk, what, more)
            left = {one.place.read_bytes() for one in leftovers(desk.file.parent)}
            assert not desk.lost() - left
        await desk.memory.versions(MEMORY_FILE)
        assert not desk.lost()
        assert not leftovers(desk.file.parent)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))


async def interrupted(desk: Desk, what: str, more: dict[int, str]) -> None:
    steps = Steps()
    doing = {"error": steps.fail, "kill": steps.kill}
    steps.meanwhile = {at: doing.get(how) or meanwhile(desk, how) for at, how in more.items()}
    try:
        with steps.counted():
            await act(desk, what, [])
        event(f"{what}: done")
    except Killed:
        event(f"{what}: killed")
        desk.restarted()
    except (MemoryConflict, ToolError, NotFound, StorageError, OSError) as error:
        event(f"{what}: {type(error).__name__}")
