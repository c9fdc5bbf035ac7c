"""A home left by an earlier version in the middle of its work is read correctly and continued."""

import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.golden.conftest import PLACE, RECORDS
from tests.golden.conversation import Wire, as_lines, look, normal, prepare
from tests.golden.test_frames import HOME

KEPT = Path(__file__).parent / "kept.jsonl"
WHOLE = ("audit.jsonl", "audit.head")  # chained: it keeps the names of where it was written


@pytest.fixture
def stored(onyx_home, jp_root_dir, tmp_path):
    """That home in the place of the new one, with this test's folder in it and a question that still waits."""
    shutil.copytree(HOME, onyx_home, dirs_exist_ok=True)
    prepare(jp_root_dir, onyx_home)
    soon = (datetime.now(UTC) + timedelta(minutes=5)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    for file in onyx_home.rglob("*"):
        if file.is_file() and file.suffix != ".z" and file.name not in WHOLE:
            text = file.read_text("utf-8").replace(str(PLACE), str(tmp_path))
            file.write_text(re.sub(r'("expiresAt":\s*)"[^"]+"', rf'\1"{soon}"', text), "utf-8")


@pytest.mark.usefixtures("stored")
async def test_home_of_earlier_version_is_read_and_its_work_continues(connect, replies, onyx_home, jp_root_dir):
    replies.next = ["It was done.", "And this as well."]
    client = await connect()
    wire = Wire(client)
    (session,) = (await client.ask("sessions.list"))["sessions"]
    key = session["sessionKey"]
    await look(wire, key)
    said = normal(as_lines(wire.answers), {"home": onyx_home, "root": jp_root_dir})
    if RECORDS:
        KEPT.write_text(said, "utf-8")
    assert said.splitlines() == KEPT.read_text("utf-8").splitlines()

    await client.ask("sessions.subscribe", sessionKey=key)
    (waiting,) = (await client.ask("approvals.list"))["approvals"]
    await client.ask("exec.approve", approvalId=waiting["approvalId"])
    assert await client.end(waiting["runId"]) == ("chat.final", client.events("chat.final")[0])
    await client.until(lambda frame: len(client.events("chat.final")) == 2)
    assert [final["text"] for final in client.events("chat.final")] == ["It was done.", "And this as well."]
    assert (jp_root_dir / "waits").exists()
    asked = [request.last_user_text for request in replies.requests]
    assert "This waits for the other" in asked[-1]
    health = await client.ask("health.check")
    assert {name for name, part in health["components"].items() if not part["ok"]} == set()
