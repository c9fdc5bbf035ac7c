"""A file that a person uploads for the knowledge: over Jupyter's own login, with a bound, found and removed again."""

import json

import pytest
from tornado.httpclient import HTTPClientError

from tests.ingest.files import pdf
from tests.server.client import MethodFailed

MANUAL = pdf("The bilge pump has a fuse.", "The anchor weighs ten kilograms.")


@pytest.fixture
def upload(jp_fetch):
    """Posts a file as the page does; the answer as JSON."""

    async def post(name, data, **options):
        response = await jp_fetch(
            *("onyx", "knowledge", "uploads"), method="POST", params={"name": name}, body=data, **options
        )
        return json.loads(response.body)

    return post


async def refused(request) -> tuple[int, str]:
    with pytest.raises(HTTPClientError) as error:
        await request
    return error.value.code, json.loads(error.value.response.body)["message"]


async def test_upload_is_read_found_removed_and_restored(connect, upload, onyx_home):
    client = await connect()
    added = await upload("../manual.pdf", MANUAL)
    assert (added["kind"], added["path"], added["state"]) == ("upload", "manual.pdf", "waiting")
    done = await client.event("knowledge.progress", itemId=added["itemId"], state="done")
    assert (done["done"], done["total"], done["chunks"]) == (1, 1, 2)
    (found,) = (await client.ask("knowledge.search", query="How heavy is the anchor?", limit=1))["results"]
    assert (found["path"], found["page"], found["text"]) == ("manual.pdf", 2, "The anchor weighs ten kilograms.")
    (copy,) = (onyx_home / "knowledge" / "files").iterdir()
    assert (copy.read_bytes(), copy.stat().st_mode & 0o777) == (MANUAL, 0o600)

    await client.ask("knowledge.remove", itemId=added["itemId"])
    listed = await client.ask("knowledge.list")
    assert listed == {"items": [], "maxUploadBytes": 50_000_000}
    assert (await client.ask("knowledge.search", query="anchor"))["results"] == []
    client.frames.clear()
    await client.ask("knowledge.restore", itemId=added["itemId"])
    await client.event("knowledge.progress", itemId=added["itemId"], state="done")
    assert len((await client.ask("knowledge.search", query="anchor"))["results"]) == 1
    with pytest.raises(MethodFailed, match="no document"):
        await client.ask("knowledge.restore", itemId="another")


async def test_too_large_or_unknown_upload_is_rejected_with_hint(upload, connect, onyx_home):
    def process_in_chunks():  # without a length that could be looked at first
        for _ in range(51):
            yield bytes(1_000_000)

    large = (
        413,
        "It is 51 MB; uploads are limited to 50 MB. Put it into the file browser and add it from there.",
    )
    assert await refused(upload("big.csv", bytes(51_000_000))) == large
    body = process_in_chunks()

    async def produce(write):
        for piece in body:
            await write(piece)

    assert await refused(upload("big.csv", None, body_producer=produce)) == large
    code, message = await refused(upload("photo.png", b"\x89PNG"))
    assert (code, message.partition(".")[0]) == (415, "Files of type ")
    assert (await (await connect()).ask("knowledge.list"))["items"] == []
    assert not (onyx_home / "knowledge").exists()


async def test_unauthorized_client_cannot_upload(jp_fetch, upload, jp_serverapp, onyx_home):
    nobody = {"Authorization": ""}
    assert (await refused(upload("manual.pdf", MANUAL, headers=nobody)))[0] == 403
    wrong = {"Authorization": "token wrong-0123456789"}
    assert (await refused(upload("manual.pdf", MANUAL, headers=wrong)))[0] == 403
    # A page of another site may send along the cookies of who is logged in; it does not know what stands in them.
    token = jp_serverapp.identity_provider.token
    login = await jp_fetch("api", "status", params={"token": token}, headers=nobody)
    cookie = "; ".join(["_xsrf=abcd", *(one.split(";")[0] for one in login.headers.get_list("Set-Cookie"))])
    logged_in = {**nobody, "Cookie": cookie}
    assert (await refused(upload("manual.pdf", MANUAL, headers=logged_in)))[0] == 403
    foreign = {**logged_in, "X-XSRFToken": "abcd", "Origin": "http://evil.example"}
    assert (await refused(upload("manual.pdf", MANUAL, headers=foreign)))[0] == 404
    assert not (onyx_home / "knowledge").exists()
    own = {**logged_in, "X-XSRFToken": "abcd"}
    assert (await upload("manual.pdf", MANUAL, headers=own))["path"] == "manual.pdf"
