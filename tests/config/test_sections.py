"""Sections of features in the configuration."""

from onyx_jupyter.config.schema.section import Section
from onyx_jupyter.config.sections import with_sections


class Colours(Section):
    red: int = 1


def test_configurations_with_same_sections_are_equal_by_value() -> None:
    first, second = (with_sections({"colours": Colours}).model_validate({}) for _ in range(2))
    assert first == second
    assert first != with_sections({"colours": Colours}).model_validate({"colours": {"red": 2}})
