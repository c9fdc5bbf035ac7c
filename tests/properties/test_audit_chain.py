"""`verify` finds every edited, cut, removed, duplicated or moved line of the audit file."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import assume, given
from hypothesis import strategies as st

from onyx_jupyter.security.audit import AuditLog
from onyx_jupyter.testing.fake_clock import FakeClock

FACTS = st.dictionaries(st.sampled_from(["tool", "by", "text"]), st.text(max_size=20) | st.integers(), max_size=3)


@st.composite
def damages(draw, raw: bytes) -> bytes:
    """The bytes after one change of any kind."""
    lines = raw.splitlines(keepends=True) if b"\r" not in raw else [line + b"\n" for line in raw.split(b"\n")[:-1]]
    first, second = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    at = draw(st.integers(0, len(raw) - 1))
    match draw(st.sampled_from(["byte", "cut", "insert", "drop", "swap", "double", "remove", "tail"])):
        case "byte":
            return raw[:at] + bytes([draw(st.integers(0, 255))]) + raw[at + 1 :]
        case "cut":
            return raw[:at]
        case "insert":
            return raw[:at] + draw(st.binary(min_size=1, max_size=8)) + raw[at:]
        case "drop":
            return raw[:at] + raw[at + draw(st.integers(1, 8)) :]
        case "swap":
            lines[first], lines[second] = lines[second], lines[first]
        case "double":
            lines.insert(second, lines[first])
        case "remove":
            del lines[first]
        case "tail":
            del lines[first:]
    return b"".join(lines)


@given(entries=st.lists(FACTS, min_size=2, max_size=6), more=st.integers(0, 2), data=st.data())
def test_any_change_is_found_at_its_first_line(entries, more, data):
    """Audit: also when the server goes on writing behind it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "audit.jsonl"
        audit = AuditLog(path, FakeClock())
        for facts in entries:
            audit.append("tool", facts)
        raw = path.read_bytes()
        damaged = data.draw(damages(raw))
        assume(damaged.rstrip(b"\n") != raw.rstrip(b"\n"))  # without its last line end the file says the same
        path.write_bytes(damaged)
        for _ in range(more):
            AuditLog(path, FakeClock()).append("tool", {"text": "later"})
        broken = asyncio.run(AuditLog(path, FakeClock()).verify()).broken
        assert broken is not None
        same = next(
            (i for i, (a, b) in enumerate(zip(raw, damaged, strict=False)) if a != b), min(len(raw), len(damaged))
        )
        assert broken.line == raw[:same].count(b"\n") + 1
