"""What a cell of a small model may do wrong, in a real kernel: it is asked about, stopped, cut short, or never run."""

import asyncio
from contextlib import suppress

import pytest

from onyx_jupyter.security.external_content import unfenced
from onyx_jupyter.testing.script import Finish, Say
from tests.notebook.files import cell, read_cells, write_notebook
from tests.notebook.kernels import KernelPlace, add_shouting_kernel

PATH = "work.ipynb"
MADE = "made-by-the-shell.txt"
FRAME_CHARS = 100_000


@pytest.fixture
def kernels(jp_serverapp, jp_root_dir, jp_asyncio_loop):
    place = KernelPlace(jp_serverapp, jp_root_dir)
    write_notebook(jp_root_dir / PATH, [])
    yield place
    jp_asyncio_loop.run_until_complete(jp_serverapp.kernel_manager.shutdown_all(now=True))


@pytest.fixture
def person(connect, kernels, jp_asyncio_loop):
    async def come():
        return Person(await connect())

    person = jp_asyncio_loop.run_until_complete(come())
    yield person
    jp_asyncio_loop.run_until_complete(person.leave())


class Person:
    """Somebody with the notebook in front, whose page draws nothing: cells are worked on in the file."""

    def __init__(self, client):
        self.client = client
        self._key = None
        self._page = asyncio.create_task(self._close_what_is_asked_for())

    async def leave(self):
        self._page.cancel()
        with suppress(asyncio.CancelledError):
            await self._page

    async def send(self, message, mode="agent"):
        if self._key is None:
            self._key = (await self.client.ask("sessions.create"))["sessionKey"]
        await self.client.ask("client.update", notebooks=[{"path": PATH, "active": True}])
        sent = await self.client.ask(
            "chat.send", sessionKey=self._key, message=message, mode=mode, toolMode="cell", typed=True
        )
        return sent["runId"]

    async def card(self, number=1):
        """That one of all cards that came."""
        await self.client.until(lambda _: len(self.client.events("exec.approval_request")) >= number)
        return self.client.events("exec.approval_request")[number - 1]

    async def say_yes(self, number=1):
        card = await self.card(number)
        await self.client.ask("exec.approve", approvalId=card["approvalId"], version=card["version"])

    async def answer(self, run_id):
        """Its words. It has to be one."""
        name, data = await self.client.end(run_id)
        assert name == "chat.final"
        return data["text"]

    async def _close_what_is_asked_for(self):
        done = set()
        while True:
            frame = await self._next_request(done)
            done.add(frame["data"]["requestId"])
            error = {"code": "not_open", "message": "It is not open here any more."}
            await self.client.post("client.update", notebooks=[])
            await self.client.post("client.respond", requestId=frame["data"]["requestId"], error=error)

    async def _next_request(self, done):
        def is_new(frame):
            return frame.get("event") == "client.request" and frame["data"]["requestId"] not in done

        while True:
            with suppress(AssertionError):  # nothing was asked for a minute
                return await self.client.until(is_new)


def block(source, language="python"):
    return f"```{language}\n{source}\n```"


def prompt(request):
    return unfenced(request.body["messages"][-1]["content"])


async def test_endless_loop_reports_duration_and_stop_keeps_kernel_usable(person, replies):
    loop = "n = 41\nprint('begun', flush=True)\nwhile True:\n    pass"
    replies.next = [block(loop), block("print('n is', n + 1)"), "n is 42."]
    run = await person.send("Compute n")
    await person.say_yes()
    await person.client.until(lambda frame: "begun" in str(frame.get("data", {}).get("message")))
    await person.client.until(lambda frame: "Running for" in str(frame.get("data", {}).get("message")))
    await person.client.ask("chat.abort", runId=run)
    assert (await person.client.end(run))[0] == "chat.aborted"
    assert len(replies.requests) == 1

    run = await person.send("Compute n plus one")
    await person.say_yes(2)
    assert "n is 42" in await person.answer(run)


async def test_ten_megabytes_of_output_reach_neither_model_nor_chat(person, replies, kernels):
    replies.next = [block("print('x' * 10_000_000)\nprint('the end')"), "It printed many letters."]
    run = await person.send("Compute many letters")
    await person.say_yes()
    assert await person.answer(run) == "It printed many letters."
    assert len(prompt(replies.requests[1])) < 10_000
    assert max(map(len, person.client.raw)) < FRAME_CHARS
    replies.next = [block("print('y' * 3)"), "Three letters."]
    run = await person.send("Compute three letters")
    await person.say_yes(2)
    assert "yyy" in await person.answer(run)


@pytest.mark.parametrize("source", [f"print(1)\n!echo it > {MADE}", f"%%bash\necho it > {MADE}"])
async def test_command_in_cell_is_asked_in_auto_mode_and_denial_leaves_nothing(person, replies, source, jp_root_dir):
    replies.next = [block(source)]
    run = await person.send("Compute it in the shell", mode="auto")
    card = await person.card()
    assert card["details"]["source"] == source
    assert card["details"]["commands"] == [f"echo it > {MADE}"]
    assert not (jp_root_dir / MADE).exists()
    await person.client.ask("exec.deny", approvalId=card["approvalId"])
    assert await person.answer(run) == "Not done, as you wished."
    assert not (jp_root_dir / MADE).exists()
    assert read_cells(jp_root_dir / PATH) == []


async def test_only_first_of_two_blocks_runs_after_approval(person, replies, jp_root_dir):
    write = block(f"open({MADE!r}, 'w').close()")
    replies.next = [f"{block('print(6 * 7)')}\nIf you want a file, too:\n{write}", f"It is 42.\n{write}"]
    run = await person.send("Compute six times seven")
    assert (await person.card())["details"]["source"] == "print(6 * 7)"
    await person.say_yes()
    assert "It is 42." in await person.answer(run)
    assert [one["source"] for one in read_cells(jp_root_dir / PATH)] == ["print(6 * 7)"]
    assert not (jp_root_dir / MADE).exists()
    assert len(person.client.events("exec.approval_request")) == 1


@pytest.mark.parametrize(
    ("reply", "says", "asked"),
    [
        # Words without a block are asked once more for the cell.
        ("I would sum the fees up and divide them.", "I could not write a cell for this", 4),
        ("```python\nprint(df[", "I could not write a cell for this", 3),
        ([Say("```python\nx = 1\nx = x"), Finish("length")], "became too long", 3),
    ],
)
async def test_invalid_or_truncated_python_never_runs_and_answer_says_so(
    person, replies, kernels, reply, says, asked, jp_root_dir
):
    replies.next = [reply] * asked
    run = await person.send("Compute the mean fee", mode="auto")
    assert says in await person.answer(run)
    assert len(replies.requests) == asked
    assert person.client.events("tool.started") == []
    assert read_cells(jp_root_dir / PATH) == []
    assert kernels.manager.list_kernel_ids() == []


async def test_text_question_is_answered_in_text_and_its_code_stays_text(person, replies, kernels, jp_root_dir):
    write_notebook(jp_root_dir / PATH, [cell("a", "greeting = 'hello'")])
    before = (jp_root_dir / PATH).read_bytes()
    replies.next = [f"It greets. A file is made with:\n\n{block(f'open({MADE!r}, chr(119)).close()')}"]
    run = await person.send("What does this notebook do?", mode="auto")
    assert (await person.answer(run)).startswith("It greets.")
    assert person.client.events("tool.started") == person.client.events("exec.approval_request") == []
    assert (jp_root_dir / PATH).read_bytes() == before
    assert not (jp_root_dir / MADE).exists()
    assert kernels.manager.list_kernel_ids() == []


async def test_non_python_kernel_gets_cell_in_its_language(person, replies, kernels, tmp_path, jp_root_dir):
    add_shouting_kernel(kernels.server_app, tmp_path)
    kernelspec = {"name": "loud-env", "display_name": "Shout", "language": "shout"}
    write_notebook(jp_root_dir / PATH, [], kernelspec=kernelspec)
    replies.next = [block("whisper hello", "shout"), block("say hello", "shout"), "It says HELLO."]
    run = await person.send("Compute a greeting")
    await person.say_yes()
    await person.say_yes(2)
    assert "It says HELLO." in await person.answer(run)
    assert "```shout block" in prompt(replies.requests[0])
    assert "whisper: not a word" in prompt(replies.requests[1])
    assert "python" not in "".join(map(prompt, replies.requests)).lower()
    assert [one["source"] for one in read_cells(jp_root_dir / PATH)] == ["say hello"]
