import pytest

from onyx_jupyter.testing.fake_clock import START, FakeClock, counting_bytes, fake_ids


def test_fake_clock_moves_only_on_request_with_both_readings() -> None:
    clock = FakeClock()
    assert (clock.now(), clock.monotonic()) == (START, 0.0)
    clock.advance(90)
    assert (clock.now() - START).total_seconds() == 90
    assert clock.monotonic() == 90
    with pytest.raises(ValueError, match="backwards"):
        clock.advance(-1)


def test_fake_ids_are_deterministic_and_unique() -> None:
    first, second = fake_ids(), fake_ids()
    ids = [first.new() for _ in range(5)]
    assert ids == [second.new() for _ in range(5)]
    assert len(set(ids)) == 5
    assert ids == sorted(ids)
    assert counting_bytes()(4) == b"\0\0\0\1"
