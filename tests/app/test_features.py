"""Our own features: each says what it needs, and needs no more than it says."""

from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.app.features import FEATURES
from onyx_jupyter.operations.dependencies import Key, Parts
from onyx_jupyter.operations.feature import Feature
from tests.runs.house import House


class Watched(Parts):
    """Parts that tell which of them were asked for."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts._values)
        self.asked: set[Key[Any]] = set()

    def get(self, key: Key[Any]) -> Any:
        self.asked.add(key)
        return super().get(key)

    def find(self, key: Key[Any]) -> Any:
        self.asked.add(key)
        return super().find(key)


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
async def test_features_request_exactly_what_they_declare(tmp_path: Path, feature: Feature) -> None:
    house = House(tmp_path, [])
    await house.onyx.ready()
    parts = Watched(house.onyx.container.parts)
    built = feature.make(parts)
    assert parts.asked == {*feature.requires, *feature.uses}
    assert built.parts.keys() == set(feature.provides)
    await built.close()
