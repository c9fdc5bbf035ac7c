"""What becomes of a fact that is told after another one, as the embedded embedder sees the two."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from onyx_jupyter.clock import SystemClock
from onyx_jupyter.memory.fact_store import FactStore
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.protocols import FactOutcome
from onyx_jupyter.providers.embedders.choice import EmbedderChoice
from onyx_jupyter.providers.embedders.local import LocalEmbedder
from onyx_jupyter.testing.fake_clock import FakeClock

CORRECTING = [
    ("The user prefers the dark theme", "The user prefers the light theme"),
    ("The user works in the morning", "The user works in the evening"),
    ("The user wants short answers", "The user wants long answers"),
    ("Missing values are coded as zero", "Missing values are coded as blank"),
    ("The training data is in the left table", "The training data is in the right table"),
    ("The user's son is five", "The user's son is six"),
    ("The temperature column is in celsius", "The temperature column is in fahrenheit"),
    ("The first column is the id", "The second column is the id"),
    ("Rows are sorted in ascending order", "Rows are sorted in descending order"),
    ("The user is left-handed", "The user is right-handed"),
    ("The deploy runs on friday", "The deploy runs on monday"),
    ("The test set is the first half", "The test set is the second half"),
    ("The price includes tax", "The price excludes tax"),
    ("The project deadline is in March", "The project deadline is in May"),
    ("The team meeting is on Monday", "The team meeting is on Tuesday"),
    ("The user is married", "The user was married"),
    ("The user eats meat", "The user no longer eats meat"),
    ("The user writes C", "The user writes C++"),
    ("The user is allergic to nuts and milk", "The user is allergic to nuts"),
]
OTHER_WORDS = [
    ("The user likes tea", "The user enjoys tea"),
    ("The user's favourite colour is green", "The user's favorite color is green"),
    ("Ada is the user's manager", "The user's manager is Ada"),
    ("The user lives in Oslo", "The user resides in Oslo"),
    ("The user has two cats", "The user owns 2 cats"),
    ("The report is due each Friday", "The report is due every Friday"),
    ("The fiscal year starts in April", "The fiscal year begins in April"),
    ("The user wants short answers", "The user wants brief answers"),
    ("The user uses pandas", "The user is using pandas"),
    ("The team meets on Monday", "On Monday the team meets"),
    ("The user is fond of jazz", "The user is very fond of jazz now"),
]
SAYING_MORE = [
    ("Users may delete the data", "Nobody may delete the data"),
    ("The user is allergic to penicillin", "The user is probably allergic to penicillin"),
    ("The user eats meat", "The user rarely eats meat"),
    ("Der Nutzer trinkt Kaffee", "Der Nutzer trinkt kaum Kaffee"),
    ("The user works at Siemens", "The user nearly works at Siemens"),
    ("The user works from home", "The user formerly works from home"),
    ("The user is available on Fridays", "The user is available on Fridays except mornings"),
    ("The user exports to CSV", "The user only exports to CSV"),
    ("The user speaks German", "The user speaks German well"),
    ("The user likes tea", "The user enjoys drinking tea"),
    ("The user is vegetarian", "The user is a strict vegetarian"),
]
TURNED_ROUND = [
    ("The baseline beats the model", "The model beats the baseline"),
    ("Column B is derived from column C", "Column C is derived from column B"),
    ("Anna is the user's manager", "The user is Anna's manager"),
    ("The user manages Anna", "Anna manages the user"),
    ("The user likes coffee but not tea", "The user does not like coffee but tea"),
    ("The user has two cats and a dog", "The user has a cat and two dogs"),
    ("The user works at home on Monday and here on Tuesday", "The user works here on Monday and at home on Tuesday"),
]
BESIDE = [
    ("The user has a cat", "The user has a dog"),
    ("The user speaks German", "The user speaks French"),
    ("The user likes verbose logs", "The user likes quiet logs"),
    ("The user likes green tea", "The user likes black tea"),
    ("The user meets Anna on Monday", "The user meets Bob on Monday"),
    ("The user's mother lives in Oslo", "The user's father lives in Oslo"),
    ("The user knows python", "The user knows java"),
    ("The user is allergic to nuts", "The user is allergic to milk"),
]
NOBODY_CAN_TELL = [
    ("The user lives in Oslo", "The user lives in Bergen now"),
    ("The user's manager is Ada", "The user's manager is Bob"),
    ("The user works at Acme", "The user works at Globex"),
    ("The report goes out weekly", "The report goes out monthly"),
    ("The user uses metric units", "The user uses imperial units"),
    ("The user plots with seaborn", "The user plots with matplotlib"),
    ("The user writes tables in csv", "The user writes tables in parquet"),
]
Told = Callable[[str, str], Awaitable[tuple[FactOutcome, list[tuple[str, float]]]]]


@asynccontextmanager
async def telling(tmp_path: Path) -> AsyncIterator[Told]:
    """Tells one fact and a week later the next; gives what became of it, and what holds then."""
    embeddings = EmbedderChoice([LocalEmbedder(SystemClock())], clock=SystemClock(), redact=str)
    count = 0

    async def tell(older: str, newer: str) -> tuple[FactOutcome, list[tuple[str, float]]]:
        nonlocal count
        count += 1
        clock = FakeClock()
        store = FactStore(MemoryFiles(tmp_path / str(count), clock), clock, embeddings=embeddings)
        await store.remember(older)
        clock.advance(14 * 86_400)
        kept = await store.remember(newer)
        return kept, [(fact.text, fact.confidence) for fact in await store.all() if fact.is_current]

    try:
        yield tell
    finally:
        await embeddings.close()


@pytest.mark.parametrize("pairs", [CORRECTING, SAYING_MORE, TURNED_ROUND], ids=["corrects", "adds", "turns round"])
async def test_contradicting_fact_replaces_former_one(tmp_path: Path, pairs: list[tuple[str, str]]) -> None:
    async with telling(tmp_path) as told:
        for older, newer in pairs:
            kept, true = await told(older, newer)
            assert (kept.outcome, true) == ("changed", [(newer, 1.0)]), older
            assert kept.former is not None
            assert kept.former.text == older


async def test_paraphrase_is_same_fact_with_newer_wording(tmp_path: Path) -> None:
    async with telling(tmp_path) as told:
        for older, newer in OTHER_WORDS:
            kept, true = await told(older, newer)
            assert (kept.outcome, true) == ("reinforced", [(newer, 1.0)]), older


async def test_compatible_facts_do_not_affect_each_other(tmp_path: Path) -> None:
    async with telling(tmp_path) as told:
        for older, newer in BESIDE:
            kept, true = await told(older, newer)
            assert (kept.outcome, true) == ("new", [(older, 1.0), (newer, 1.0)]), older


async def test_undecidable_pair_is_kept_and_older_fact_named(tmp_path: Path) -> None:
    async with telling(tmp_path) as told:
        for older, newer in NOBODY_CAN_TELL:
            kept, true = await told(older, newer)
            assert (kept.outcome, true) == ("new", [(older, 1.0), (newer, 1.0)]), older
            assert [fact.text for fact in kept.near] == [older]
