"""The frames of a conversation match the recording exactly."""

import shutil
from pathlib import Path

from tests.golden.conftest import RECORDS
from tests.golden.conversation import REPLIES, Wire, as_lines, converse, look, normal, prepare

FRAMES = Path(__file__).parent / "frames.jsonl"
HOME = Path(__file__).parent / "home"
NOT_KEPT = ("index", "logs", "cache", "models", "*.lock", "onyx.json")


async def test_conversation_frames_match_recording(connect, replies, onyx_home, jp_root_dir):
    prepare(jp_root_dir, onyx_home)
    replies.next = list(REPLIES)
    wire = Wire(await connect())
    key = await converse(wire)
    await look(wire, key)
    said = normal(as_lines(wire.lines), {"home": onyx_home, "root": jp_root_dir})
    if RECORDS:
        FRAMES.write_text(said, "utf-8")
        if not HOME.exists():  # what an earlier version wrote is never written anew
            shutil.copytree(onyx_home, HOME, ignore=shutil.ignore_patterns(*NOT_KEPT))
    assert said.splitlines() == FRAMES.read_text("utf-8").splitlines()
