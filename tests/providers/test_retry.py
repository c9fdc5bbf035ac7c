import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.retry import RetryPolicy

OUTAGES = ["rate_limit", "timeout", "unavailable", "bad_response"]


@given(
    code=st.sampled_from(OUTAGES),
    attempts=st.integers(1, 10),
    made=st.integers(1, 12),
    cap=st.floats(0, 60),
    chance=st.floats(0, 1, exclude_max=True),
    floor=st.none() | st.floats(0, 120),
)
def test_wait_is_between_requested_minimum_and_cap(code, attempts, made, cap, chance, floor):
    wait_s = RetryPolicy(attempts, cap).wait_s(ModelError(code, "No.", retry_after_s=floor), made, chance)
    if made >= attempts or (floor is not None and floor > cap):
        assert wait_s is None
    else:
        assert wait_s is not None
        assert (floor or 0) <= wait_s <= cap


def test_jitter_range_doubles_up_to_cap():
    error = ModelError("unavailable", "No.")
    waits = [RetryPolicy(10, 5.0).wait_s(error, made, 0.5) for made in (1, 2, 3, 4, 9)]
    assert waits == [0.5, 1.0, 2.0, 2.5, 2.5]
    assert RetryPolicy(10, 5.0).wait_s(error, 3, 0.0) == 0.0


@pytest.mark.parametrize("code", ["authentication", "refused", "not_found", "overflow"])
def test_permanent_errors_are_not_retried(code):
    assert RetryPolicy().wait_s(ModelError(code, "No."), 1, 0.5) is None


def test_rejected_request_is_not_resent():
    assert RetryPolicy().wait_s(ModelError("bad_response", "No.", permanent=True), 1, 0.5) is None
