"""Project instructions guide Onyx only while their exact content is trusted."""

import asyncio
import hashlib
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from onyx_jupyter.errors import InvalidRequest, NotFound, ProjectFileChanged
from onyx_jupyter.features.project.files import ProjectFiles
from onyx_jupyter.runs.audit_trail import AuditTrail
from onyx_jupyter.security.audit import AuditLog
from onyx_jupyter.testing.fake_clock import FakeClock

CONTENTS = st.sampled_from([b"one", b"one\n", b"two", b"two\r\n", b"\xef\xbb\xbfone", b" \n", b"one\0", b"\xff"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), CONTENTS),
        st.tuples(st.sampled_from(["trust", "decline"]), CONTENTS),
        st.tuples(st.sampled_from(["remove", "restart"]), st.just(b"")),
    ),
    max_size=20,
)


def desk(folder: Path) -> ProjectFiles:
    clock = FakeClock()
    audit = AuditTrail(AuditLog(folder / "audit.jsonl", clock), lambda data: data)
    return ProjectFiles(folder / "root", folder / "trusted.json", dict, clock, audit, lambda name, data: None)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
def test_only_last_trusted_content_is_used(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("home")
    file = folder / "root" / "AGENTS.md"
    file.parent.mkdir()

    async def play() -> None:
        project, trusted = desk(folder), None
        for what, content in steps:
            match what:
                case "write":
                    file.write_bytes(content)
                case "remove":
                    file.unlink(missing_ok=True)
                case "restart":
                    project = desk(folder)
                case _:
                    now = file.read_bytes() if file.exists() else None
                    try:
                        await getattr(project, what)("AGENTS.md", hashlib.sha256(content).hexdigest(), "user:ada")
                    except (InvalidRequest, NotFound, ProjectFileChanged):
                        pass
                    else:
                        assert now == content, "a yes or a no to what was not there"
                        trusted = content if what == "trust" else None if trusted == content else trusted
            used = await project.instructions()
            now = file.read_bytes() if file.exists() else None
            assert (used.text.encode() if used else None) == (now if now == trusted else None)

    asyncio.run(play())
