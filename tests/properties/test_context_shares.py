"""Attached context fits its budget, and short items are not cut in favour of long ones."""

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.context.attachments import split_budget


@given(st.lists(st.integers(0, 50_000), max_size=30), st.integers(0, 40_000))
def test_shares_fit_and_are_fair(lengths: list[int], total: int) -> None:
    shares = split_budget(lengths, total)
    assert len(shares) == len(lengths)
    assert all(0 <= share <= length for share, length in zip(shares, lengths, strict=True))
    assert sum(shares) <= total or sum(lengths) <= total
    assert (shares == lengths) == (sum(lengths) <= total)
    cut = [share for share, length in zip(shares, lengths, strict=True) if share < length]
    whole = [share for share, length in zip(shares, lengths, strict=True) if share == length]
    assert not cut or not whole or max(whole) <= min(cut) + 1
    assert not cut or max(cut) - min(cut) <= 1
    assert not cut or total - sum(shares) < len(lengths)
