"""The configuration is read again when its file changes, without anyone asking."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from onyx_jupyter.agents.config_watch import ConfigWatch
from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.config.paths import Home
from onyx_jupyter.security.credential_store import no_credentials
from onyx_jupyter.testing.scripted_model import ScriptedModel, ScriptedModels
from tests.waiting import until


@asynccontextmanager
async def watched(folder, opened=None, changed=None, stored=no_credentials):
    """The configuration of a home in that folder, followed; `opened` collects what models were opened with."""

    def open_models(settings):
        (opened if opened is not None else []).append(settings)
        return ScriptedModels(ScriptedModel([]))

    templates = folder / "templates"
    templates.mkdir()
    note = (changed if changed is not None else []).append
    configured = Configured(Home(folder), folder, templates, {}, open_models, list, dict, note, stored=stored)
    await configured.read()
    watch = ConfigWatch(configured, SystemClock())
    await watch.start()
    yield configured
    await watch.close()
    await configured.close()


async def test_a_saved_file_is_in_force_soon(tmp_path):
    file = tmp_path / "onyx.json"
    async with watched(tmp_path) as configured:
        file.write_text("{runtime: {maxTurns: 7}}")
        await until(lambda: configured.settings.config.runtime.max_turns == 7)
        file.write_text("{runtime: {maxTurns: 8, retry: 'x'}}")
        await until(lambda: configured.settings.config.runtime.max_turns == 8)
        assert [problem.key for problem in configured.settings.problems] == ["runtime.retry"]
        file.write_text("{")
        await until(lambda: len(configured.settings.problems) == 2)
        assert configured.settings.config.runtime.max_turns == 8


async def test_a_file_that_is_emptied_before_it_is_written_does_not_put_the_defaults_in_force(tmp_path):
    file = tmp_path / "onyx.json"
    file.write_text("{runtime: {maxTurns: 7}}")
    changed = []
    async with watched(tmp_path, changed=changed) as configured:
        file.write_text("")
        file.unlink()
        await asyncio.sleep(0.3)
        file.write_text("{runtime: {maxTurns: 8}}")
        await until(lambda: configured.settings.config.runtime.max_turns == 8)
        assert [settings.config.runtime.max_turns for settings in changed] == [7, 8]


async def test_a_file_that_cannot_be_applied_does_not_end_the_watch(tmp_path, caplog):
    file = tmp_path / "onyx.json"
    async with watched(tmp_path) as configured:
        file.write_text('{agents: {list: [{id: "main", workspace: "\\u0000"}]}}')
        await until(lambda: "could not be applied" in caplog.text)
        file.write_text("{runtime: {maxTurns: 7}}")
        await until(lambda: configured.settings.config.runtime.max_turns == 7)


async def test_keys_that_another_server_stores_are_read(tmp_path):
    readings = []

    def stored():
        readings.append(1)
        return no_credentials()

    async with watched(tmp_path, stored=stored):
        await until(lambda: len(readings) == 2)  # once more after the watch has begun
        (tmp_path / "credentials.json").write_text("{}")
        await until(lambda: len(readings) == 3)


async def test_a_linked_file_is_followed_where_it_is(tmp_path):
    elsewhere = tmp_path / "dotfiles"
    elsewhere.mkdir()
    real = elsewhere / "onyx.json5"
    real.write_text("{}")
    home = tmp_path / "home"
    home.mkdir()
    (home / "onyx.json").symlink_to(real)
    async with watched(home) as configured:
        real.write_text("{runtime: {maxTurns: 7}}")
        await until(lambda: configured.settings.config.runtime.max_turns == 7)


@pytest.mark.parametrize(
    ("text", "times"),
    [("{runtime: {maxTurns: 7}}", 1), ("{local: {threads: 2}}", 2), ("{providers: {openai: {apiKey: 'k-2'}}}", 2)],
)
async def test_models_are_opened_anew_only_if_their_settings_have_changed(tmp_path, text, times):
    opened = []
    async with watched(tmp_path, opened) as configured:
        (tmp_path / "onyx.json").write_text(text)
        await until(lambda: configured.changes == 2)
        assert len(opened) == times
