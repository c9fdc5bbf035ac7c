"""What becomes of an answer: a variable of some shape, or the next cell."""

import json

from tests.e2e.stage import Stage
from tests.magics.cells import Cells

SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'
TABLE = "Here it is:\n\n| city | people |\n|---|---:|\n| Bern | 134,794 |\n| **Ulm** | 126,000 |\n\nAs of 2023."


def test_text_and_code_are_returned_from_cell(kernel: Cells, stage: Stage) -> None:
    stage.play("  Just words.  ", "Like so:\n\n```python\nx = 1\n```\n\nand\n\n```python\ny = 2\n```", "No code.")
    assert kernel.run("%onyx --out words Say something").status == "ok"
    assert kernel.value("words") == "Just words."
    ran = kernel.run("%onyx --code --out answer Set two variables")
    assert ran.next_cell == "x = 1\n\ny = 2"
    assert "one Python block" in stage.asked[1].last_user_text
    assert kernel.value("answer").startswith("Like so")
    assert "no code" in kernel.run("%onyx --code Say something").evalue


def test_json_matches_schema_or_is_requested_once_more(kernel: Cells, stage: Stage) -> None:
    kernel.run(f"schema = {json.loads(SCHEMA)!r}; wrong = 5")
    stage.play('```json\n{"n": 3}\n```', '{"n": "three"}', '{"n": 4}', "[1, 2]", "Sorry.", "Still words.")
    assert kernel.run("%onyx --out first --schema schema How many?").status == "ok"
    assert kernel.value("first") == {"n": 3}
    assert '"required": ["n"]' in stage.asked[0].last_user_text
    ran = kernel.run(f"%onyx --out second --schema {SCHEMA} And now?")
    assert kernel.value("second") == {"n": 4}
    assert "the value.n must be integer" in stage.asked[2].last_user_text
    assert len(ran.displays) == 2
    assert kernel.run("%onyx --out any --out-type json List").status == "ok"
    assert kernel.value("any") == [1, 2]
    failed = kernel.run("%onyx --out first --schema schema Again?")
    assert failed.ename == "MagicError"
    assert "even after a second try" in failed.evalue
    assert kernel.value("first") == {"n": 3}
    assert "not a JSON schema" in kernel.run("%onyx --out x --schema wrong Hello").evalue
    assert len(stage.asked) == 6


def test_table_becomes_frame_with_numbers(kernel: Cells, stage: Stage) -> None:
    stage.play(TABLE, "```csv\na,b\n1,x\n,y\n```", "words", "more words")
    assert kernel.run("%onyx --out cities --out-type frame Which cities?").status == "ok"
    assert kernel.value("[type(cities).__name__, list(cities.columns)]") == ["DataFrame", ["city", "people"]]
    assert kernel.value("cities.to_dict('records')") == [
        {"city": "Bern", "people": 134794},
        {"city": "Ulm", "people": 126000},
    ]
    kernel.run("%onyx --out rows --out-type frame As CSV")
    assert kernel.value("[str(rows.a.dtype), rows.a.isna().tolist(), rows.b.tolist()]") == [
        "float64",
        [False, True],
        ["x", "y"],
    ]
    assert "it contains no table" in kernel.run("%onyx --out none --out-type frame Words").evalue
    assert kernel.value("'none' in globals()") is False
