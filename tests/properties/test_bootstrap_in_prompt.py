"""Bootstrap files in the prompt that a model really gets."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.security.external_content import escape_marks
from onyx_jupyter.testing.scripted_model import ScriptedModel
from tests.runs.house import House

TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=400).filter(lambda text: text.strip())
PLAIN = st.text(st.sampled_from("abcdefghij äöü😀,."), min_size=1, max_size=200).filter(lambda text: text.strip())


def system_prompt(folder, files: dict[str, str], model: ScriptedModel) -> str:
    house = House(folder, models={"scripted/model": model})
    workspace = house.home.root / "workspace"
    workspace.mkdir(parents=True)
    for name, text in files.items():
        (workspace / name).write_bytes(text.encode())

    async def ask() -> None:
        assert (await house.run(await house.session()))[0] == "chat.final"
        await house.close()

    asyncio.run(ask())
    return model.requests[0].system


@given(soul=TEXTS, user=TEXTS, others=st.dictionaries(st.sampled_from(["AGENTS.md", "TOOLS.md", "MEMORY.md"]), TEXTS))
def test_prompt_contains_soul_and_user_completely(tmp_path_factory, soul, user, others):
    """Property 10: For any session start, the prompt context SHALL include the contents of SOUL.md and USER.md
    bootstrap files."""
    files = {"SOUL.md": soul, "USER.md": user, **others}
    system = system_prompt(tmp_path_factory.mktemp("house"), files, ScriptedModel(["ok"]))
    files |= {name: escape_marks(text.strip()) for name, text in files.items() if name == "MEMORY.md"}
    for text in files.values():
        assert text.strip() in system


@given(soul=PLAIN, user=PLAIN)
def test_short_prompt_of_small_model_contains_them_too(tmp_path_factory, soul, user):
    """Property 10: … the contents of SOUL.md and USER.md; a small model gets their beginnings."""
    system = system_prompt(
        tmp_path_factory.mktemp("house"), {"SOUL.md": soul, "USER.md": user}, ScriptedModel(["ok"], light=True)
    )
    assert soul.strip() in system
    assert user.strip() in system
