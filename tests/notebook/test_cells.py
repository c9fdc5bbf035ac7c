import pytest

from onyx_jupyter.notebook.cells import cell_hash


# The same pairs stand in labextension/tests/cell_changes.test.ts, for the tab's own hash.
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", "e3b0c44298fc1c14"),
        ("x = 1", "8ff436def1451285"),
        ("é😀", "1184d1f608158eea"),
        ("one\r\ntwo\t\u2028", "9bc1e17136dc0678"),
    ],
)
def test_hash_matches_tab(source: str, expected: str) -> None:
    assert cell_hash(source) == expected
