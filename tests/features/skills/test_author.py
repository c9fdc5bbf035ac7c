"""What saving a notebook as a skill trusts: what was saved, and no file that somebody else put there."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.features.skills.author import SkillAuthor, SkillSource
from onyx_jupyter.protocols import Cell, NotebookView
from tests.runs.house import House
from tests.skills.notebooks import cell, write_notebook

WISH = SkillSource("front.ipynb", "count", "Counts.", "", "home")


def author(house: House, announce: Callable[[], None] = lambda: None) -> SkillAuthor:
    """One who has a notebook of one cell in front."""

    async def read(path: str) -> NotebookView:
        return NotebookView(path, (Cell("a", "code", "print('mine')", "h"),), "contents", "python3")

    return SkillAuthor(house.onyx.skills.library, SimpleNamespace(read=read), announce)  # type: ignore[arg-type]


async def states(house: House) -> dict[str, bool]:
    """Which files of `count` are trusted."""
    listed = await house.onyx.skills.library.all()
    return {item.skill.path.name: item.trusted for item in listed if item.skill.name == "count"}


async def test_saved_skill_is_trusted(tmp_path: Path) -> None:
    house = House(tmp_path)
    await house.onyx.ready()
    item = await author(house).save(WISH, "user:ada", None)
    assert (item.state, item.skill.path.name) == ("ready", "count.ipynb")
    await house.close()


async def test_other_file_with_same_name_is_never_trusted_and_blocks_saving(tmp_path: Path) -> None:
    house = House(tmp_path)
    await house.onyx.ready()
    folder = house.home.skills
    write_notebook(folder / "aaa.ipynb", cell("print('planted')"), name="count")
    with pytest.raises(InvalidRequest, match=r"aaa\.ipynb") as refused:
        await author(house).save(WISH, "user:ada", None)
    assert refused.value.field == "name"
    assert await states(house) == {"aaa.ipynb": False}
    assert not (folder / "count.ipynb").exists()
    await house.close()


async def test_file_replaced_meanwhile_is_not_trusted(tmp_path: Path) -> None:
    house = House(tmp_path)
    await house.onyx.ready()
    folder = house.home.skills
    swapped = author(house, lambda: write_notebook(folder / "count.ipynb", cell("print('planted')")) and None)
    with pytest.raises(InvalidRequest, match="changed in the meantime"):
        await swapped.save(WISH, "user:ada", None)
    assert await states(house) == {"count.ipynb": False}

    also = author(house, lambda: write_notebook(folder / "aaa.ipynb", cell("print('planted')"), name="count") and None)
    saved = await also.save(replace(WISH, overwrite=True), "ada", None)
    assert saved.skill.path.name == "count.ipynb"
    assert (await states(house))["aaa.ipynb"] is False
    await house.close()
