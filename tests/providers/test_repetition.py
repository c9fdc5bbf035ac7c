"""When an answer goes round in circles, and when it only looks as if it did."""

import pytest

from onyx_jupyter.providers.repetition import Repetition

CODE = """To read a file:

```python
x = 1
x = 1
x = 1
```

To read a file:

```python
x = 1
```
"""
LIST = """Five uses of numpy:

1. Sums: numpy provides functions for sums of large arrays.
2. Sorting: numpy provides functions that put values in order.
3. Random numbers: numpy provides a generator for every distribution.
4. Files: it reads and writes arrays in a format of its own.
"""


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def until_it_ends(text: str, size: int) -> str:
    """What was read of the text when the repetition was noticed."""
    repetition, read = Repetition(), ""
    for piece in pieces(text, size):
        read += piece
        if repetition.ends_in(piece):
            break
    return read


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize("text", [CODE, LIST, "No. No. No.\n", "", "\n\n\n"])
def test_an_answer_that_goes_on_is_left_alone(text: str, size: int) -> None:
    assert until_it_ends(text, size) == text


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize(
    ("said", "again"),
    [
        ("I am here to help you. What is your project? ", "I am here to help you. "),
        ("- Data science\n- Big data\n", "- Data Science\n"),
        ("1. Data science\n2. Big data\n", "3. Data Science\n"),
        ("So what project do you need help with today? ", "Now, what project do you need help with now? "),
    ],
)
def test_what_was_said_before_ends_it(said: str, again: str, size: int) -> None:
    rest = "And so on. " * 3
    read = until_it_ends(said + again + rest, size)
    assert len(said + again) - 1 <= len(read) <= len(said + again) + size
