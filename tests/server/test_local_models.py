"""`local_models.*` on a real server: fetched from a real address, told to everybody, used and removed."""

import json
from functools import partial

import pytest

from onyx_jupyter.features.local_models import feature
from onyx_jupyter.features.local_models.service import LocalModels
from onyx_jupyter.providers import local_weights
from onyx_jupyter.providers.local_files.catalogue import CATALOGUE
from tests.providers.local_files.file_server import FileServer
from tests.providers.local_files.rows import CONTENT, OTHER, ROW, SIZE_BYTES, row
from tests.server.client import MethodFailed

ROWS = (ROW, row(OTHER, name="small"))


@pytest.fixture
def files(onyx_home, monkeypatch):
    monkeypatch.setattr(feature, "LocalModels", partial(LocalModels, catalogue=ROWS))
    with FileServer({"tried.gguf": CONTENT, "small.gguf": OTHER}, piece_bytes=100_000) as server:
        config = json.loads((onyx_home / "onyx.json").read_text())
        config["local"] = {"modelsUrl": server.url.replace("://", "://me:pa55-w0rd-of-mine@")}
        (onyx_home / "onyx.json").write_text(json.dumps(config))
        yield server


async def test_download_progress_reaches_every_client(files, connect, onyx_home):
    client, other = await connect(), await connect()
    await other.ask("health.check")
    listed = (await client.ask("local_models.list"))["models"]
    assert [(one["id"], one["state"], one["bytes"]) for one in listed] == [
        ("local/tried", "missing", SIZE_BYTES),
        ("local/small", "missing", SIZE_BYTES),
    ]
    assert files.ranges == [], "nothing unasked"
    assert (await client.ask("local_models.fetch", id="local/tried"))["state"] == "fetching"
    for one in (client, other):
        ready = await one.event("local_models.progress", id="local/tried", state="ready")
        assert ready["path"] == str(onyx_home / "models" / "tried.gguf")
        sources = {data.get("source") for data in one.events("local_models.progress")}
        assert files.url.removeprefix("http://") in sources
    assert not [frame for frame in client.raw + other.raw if "pa55-w0rd" in frame]
    assert (await client.ask("local_models.remove", id="local/tried"))["state"] == "missing"
    assert not (onyx_home / "models" / "tried.gguf").exists()


async def test_download_is_paused_resumed_and_cancelled(files, connect, onyx_home):
    files.pause_s = 0.05
    client = await connect()
    await client.ask("local_models.fetch", id="local/tried")
    await client.until(lambda frame: frame.get("event") == "local_models.progress" and frame["data"]["doneBytes"] > 0)
    paused = await client.ask("local_models.pause", id="local/tried")
    assert (paused["state"], 0 < paused["doneBytes"] < SIZE_BYTES) == ("paused", True)
    assert (await client.ask("local_models.list"))["models"][0]["doneBytes"] == paused["doneBytes"]
    assert (await client.ask("local_models.fetch", id="local/tried"))["doneBytes"] == paused["doneBytes"]
    assert (await client.ask("local_models.remove", id="local/tried"))["state"] == "missing"
    assert sorted(path.suffix for path in (onyx_home / "models").iterdir()) == [".lock"]


async def test_unknown_name_is_an_error_listing_existing_ones(files, connect):
    client = await connect()
    for method in ("local_models.fetch", "local_models.pause", "local_models.remove"):
        with pytest.raises(MethodFailed, match="Available: local/tried, local/small"):
            await client.ask(method, id="local/other")


async def test_downloaded_model_can_be_chosen(connect, onyx_home):
    (onyx_home / "models").mkdir()
    with (onyx_home / "models" / CATALOGUE[1].file_name).open("wb") as file:
        file.truncate(CATALOGUE[1].size_bytes)
    client = await connect()
    assert CATALOGUE[1].id in {model["id"] for model in (await client.ask("models.list"))["models"]}
    listed = {one["id"]: one for one in (await client.ask("local_models.list"))["models"]}
    assert (listed[CATALOGUE[1].id]["state"], listed[CATALOGUE[1].id]["shared"]) == ("ready", False)


class TestLocalModelsNotAllowed:
    @pytest.fixture
    def jp_server_config(self, jp_server_config):
        return {**jp_server_config, "OnyxApp": {"ceiling": {"providers": ["scripted"]}}}

    async def test_download_is_rejected(self, files, connect):
        client = await connect()
        with pytest.raises(MethodFailed, match="Not allowed on this server"):
            await client.ask("local_models.fetch", id="local/tried")
        assert files.ranges == []


async def test_model_that_cannot_run_here_is_not_downloaded(files, connect, monkeypatch):
    client = await connect()
    monkeypatch.setattr(local_weights, "find_spec", lambda name: None)
    with pytest.raises(MethodFailed, match="xllamacpp") as refused:
        await client.ask("local_models.fetch", id="local/tried")
    assert "pip install xllamacpp" in refused.value.data["hint"]
    assert files.ranges == []
