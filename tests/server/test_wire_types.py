"""The TypeScript that is generated from the wire models."""

from __future__ import annotations

from pathlib import Path

import pytest

from onyx_jupyter.app.features import EVENTS, OPERATIONS
from onyx_jupyter.server import wire_types


def test_every_method_and_event_has_types() -> None:
    text = wire_types.typescript()
    for one in OPERATIONS:
        assert f'"{one.name}": {{ params: {one.params.__name__}; result: {one.result.__name__} }};' in text
    for name, event in EVENTS.items():
        assert f'"{name}": {event.data.__name__};' in text


def test_optional_fields_are_optional_and_no_type_is_any() -> None:
    text = wire_types.typescript()
    assert "  afterSeq?: number | null;" in text
    assert "  sessionKey: string;" in text
    assert ": any" not in text


def test_check_fails_for_outdated_file_without_touching_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "wire.ts"
    monkeypatch.setattr(wire_types, "TARGET", target)
    assert wire_types.main([]) == 0
    assert wire_types.main(["--check"]) == 0
    target.write_text("old", encoding="utf-8")
    assert wire_types.main(["--check"]) == 1
    assert target.read_text(encoding="utf-8") == "old"


def test_inexpressible_schema_is_an_error() -> None:
    with pytest.raises(TypeError, match="Teach"):
        wire_types._type({"type": "tuple"})
