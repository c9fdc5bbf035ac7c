"""What a variable looks like in a question: short, and never a copy of it."""

import tracemalloc
from collections import deque

import numpy as np
import pandas as pd

from onyx_jupyter.magics.summaries import MAX_CHARS, MAX_TEXT_CHARS, summary


def test_text_and_numbers_are_unchanged() -> None:
    assert [summary(value) for value in ("a\nb", 3, 0.5, None, True)] == ["a\nb", "3", "0.5", "None", "True"]
    long = summary("x" * (MAX_TEXT_CHARS + 5))
    assert long.endswith("[… 5 more characters]")


def test_frame_is_summarized_by_shape_columns_and_first_rows() -> None:
    frame = pd.DataFrame({"a": range(9), "b|c": ["x\ny"] * 9})
    title, _, table = summary(frame).partition("First rows:\n")
    assert title.startswith("pandas.DataFrame with 9 rows and 2 columns (a: int64, b|c: ")
    assert table.splitlines()[:3] == ["| a | b\\|c |", "| --- | --- |", "| 0 | x y |"]
    assert len(table.splitlines()) == 7
    wide = summary(pd.DataFrame(np.zeros((2, 500))))
    assert "… 440 more" in wide
    assert len(wide) < MAX_CHARS + 100
    assert summary(pd.DataFrame()) == "pandas.DataFrame with 0 rows and 0 columns ()"


def test_large_frames_and_lists_are_not_copied() -> None:
    frame = pd.DataFrame({"n": np.zeros(3_000_000)})
    numbers = list(range(1_000_000))
    summary(frame)  # what pandas sets up for itself the first time
    tracemalloc.start()
    summary(frame)
    shown = summary(numbers)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000
    assert shown.endswith("...]")


def test_arrays_and_other_objects() -> None:
    assert summary(np.arange(4)).startswith("numpy.ndarray of int64, 4. First values:\n[0 1 2 3]")
    assert summary(np.zeros((1000, 500, 3))) == "numpy.ndarray of float64, 1000 × 500 × 3"
    assert "of int64, 3" in summary(pd.Series([1, 2, 3]))
    assert summary({"a": [1, 2]}) == "{'a': [1, 2]}"
    assert summary(deque([1])) == "deque([1])"


def test_object_without_repr_is_named() -> None:
    class Broken:
        @property
        def dtype(self) -> str:
            raise OSError("gone")

        def __repr__(self) -> str:
            raise OSError("gone")

    assert "Broken" in summary(Broken())
