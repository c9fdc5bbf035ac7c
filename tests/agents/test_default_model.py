"""Which model answers if none was chosen, and what is said if there is none."""

import json
from pathlib import Path

import pytest

from onyx_jupyter.agents import configured
from onyx_jupyter.agents.default_model import NO_MODEL, DefaultModel
from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.providers.local_files.catalogue import CATALOGUE, CatalogueModel
from onyx_jupyter.testing.scripted_model import ScriptedModel
from tests.runs.house import House

LARGE, SMALL = CATALOGUE
PLENTY, LITTLE = 8_000_000_000, 7_999_999_999
LINE = (
    "No model is set up yet. You can search, run skills from their forms, connect a provider and choose a model, "
    "or download {}."
)


def put(model: CatalogueModel, folder: Path) -> None:
    """A file of the right length, which takes no room."""
    folder.mkdir(exist_ok=True, parents=True)
    with (folder / model.file_name).open("wb") as file:
        file.truncate(model.size_bytes)


@pytest.fixture(autouse=True)
def _this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory enough, and nothing that an installation put there for everybody."""
    monkeypatch.setattr(configured, "free_memory_bytes", lambda: PLENTY)
    monkeypatch.setattr(configured, "shared_folders", lambda: ())


@pytest.mark.parametrize(
    ("free_bytes", "there", "chosen"),
    [
        (PLENTY, [LARGE, SMALL], LARGE),
        (LITTLE, [LARGE, SMALL], SMALL),
        (LITTLE, [LARGE], LARGE),
        (PLENTY, [SMALL], SMALL),
        (PLENTY, [], None),
    ],
)
def test_recommended_model_answers_if_present_else_another_else_none(
    tmp_path: Path, free_bytes: int, there: list[CatalogueModel], chosen: CatalogueModel | None
) -> None:
    for model in there:
        put(model, tmp_path)
    assert DefaultModel([tmp_path], free_bytes).id == (chosen.id if chosen else NO_MODEL)


def test_added_and_removed_files_are_noticed_and_partial_files_ignored(tmp_path: Path) -> None:
    default = DefaultModel([tmp_path], PLENTY)
    (tmp_path / LARGE.file_name).write_bytes(b"half")
    assert default.id == NO_MODEL
    put(LARGE, tmp_path)
    assert default.id == LARGE.id
    (tmp_path / LARGE.file_name).unlink()
    assert default.id == NO_MODEL


@pytest.mark.parametrize(
    ("free_bytes", "words"),
    [(PLENTY, "Qwen2.5 Coder 1.5B (1.12 GB)"), (LITTLE, "Qwen2.5 Coder 0.5B (491 MB)")],
)
def test_without_model_the_message_names_recommended_one_with_size(free_bytes: int, words: str) -> None:
    error = DefaultModel([], free_bytes).missing()
    assert (error.code, str(error), error.hint) == ("no_model", LINE.format(words), None)


def test_no_local_model_answers_or_is_offered_if_not_allowed(tmp_path: Path) -> None:
    put(LARGE, tmp_path)
    default = DefaultModel([tmp_path], PLENTY, is_allowed=False)
    assert default.id == NO_MODEL
    assert str(default.missing()).endswith("or connect a provider and choose a model.")


def local_house(folder: Path, **more: object) -> House:
    """Without a configured model; the large one answers by script."""
    models = {LARGE.id: ScriptedModel(lambda _: "Hello."), "scripted/model": ScriptedModel(lambda _: "Hi.")}
    return House(folder, models=models, environment={}, **more)  # type: ignore[arg-type]


async def test_message_without_model_is_kept_and_answered_once_one_exists(
    tmp_path: Path,
) -> None:
    house = local_house(tmp_path)
    key = await house.session()
    name, data = await house.run(key, "hello")
    assert (name, data["code"], data["message"]) == (
        "chat.error",
        "no_model",
        LINE.format("Qwen2.5 Coder 1.5B (1.12 GB)"),
    )
    assert data.get("hint") is None
    assert [line["content"] for line in house.lines(key) if line["role"] == "user"] == ["hello"]
    assert house.models.opened == []
    put(LARGE, house.home.models)
    assert (await house.run(key, "hello"))[0] == "chat.final"
    assert LARGE.id in house.models.opened


async def test_configured_fallback_and_chosen_models_take_precedence(tmp_path: Path) -> None:
    agent = {"list": [{"fallbackModel": "scripted/model"}]}
    house = local_house(tmp_path, config=json.dumps({"agents": agent}))
    await house.onyx.ready()
    main = house.onyx.settings.config.default_agent()
    assert house.onyx.configured.model_of(main) == "scripted/model", "better than nothing"
    put(LARGE, house.home.models)
    assert house.onyx.configured.model_of(main) == LARGE.id
    assert (await house.run(await house.session(model="scripted/model")))[1]["text"] == "Hi."
    assert house.onyx.configured.model_of(main.model_copy(update={"model": "scripted/other"})) == "scripted/other"


async def test_ceiling_without_local_models_leaves_files_untouched(tmp_path: Path) -> None:
    house = local_house(tmp_path, ceiling=Ceiling(providers=["scripted"]))
    put(LARGE, house.home.models)
    name, data = await house.run(await house.session(), "hello")
    assert (name, data["code"]) == ("chat.error", "no_model")
    assert "fetch" not in data["message"]
    assert house.models.opened == []
