"""Questions from cells of a real kernel to a real server: answers, variables, sessions, interrupts."""

import threading

from onyx_jupyter.testing.script import Call, Hang, Hold, HttpError, Say
from tests.e2e.lab_server import TOKEN, LabServer, until
from tests.e2e.stage import Stage, saw_disconnect, tool_results
from tests.magics.cells import LIMIT_S, Cells, Ran
from tests.magics.conftest import Peer


def test_question_with_variable_is_answered_below_cell(kernel: Cells, stage: Stage) -> None:
    stage.play([Say("It is **42**.\n\n$x^2$", chunk_chars=3)], "Yes.")
    kernel.run("x = 41")
    ran = kernel.run("%onyx What comes after {x}?")
    assert ran.status == "ok", ran.traceback
    assert ran.markdown == "It is **42**.\n\n$x^2$"
    assert "What comes after 41?" in stage.asked[0].last_user_text
    assert len(ran.displays) == 1
    assert kernel.run("%%onyx --mode ask\nIs {{x}} {x},\nreally?").markdown == "Yes."
    assert "Is {x} 41,\nreally?" in stage.asked[1].last_user_text


def test_answer_streams_into_one_display(kernel: Cells, stage: Stage) -> None:
    hold = Hold()
    stage.play([Say("First half."), hold, Say(" Second half.")])
    seen: list[str] = []

    def on_display(bundle: dict[str, str]) -> None:
        seen.append(bundle["text/plain"])
        if seen[-1] == "First half.":
            hold.released.set()

    ran = kernel.start("%onyx Tell me", on_display)()
    assert ran.status == "ok"
    assert "First half." in seen
    assert seen[-1] == "First half. Second half."
    assert len(ran.displays) == 1


def planned(*statuses: str) -> Call:
    texts = ("Load *it*", "Fit", "Ask")
    return Call("plan_update", {"steps": [{"text": t, "status": s} for t, s in zip(texts, statuses, strict=True)]})


def test_plan_is_a_list_that_is_updated(kernel: Cells, stage: Stage) -> None:
    hold = Hold()
    stage.play(
        [planned("doing", "pending", "pending")],
        [hold, Call("list", {"path": "."})],
        [planned("done", "doing", "dropped")],
        [Call("plan_update", {"steps": [{"text": "", "status": "soon"}]})],
        "Fitted.",
    )
    first = "**Plan** · 0 of 3\n\n- ▸ **Load \\*it\\***\n- ○ Fit\n- ○ Ask"
    seen: list[str] = []

    def on_display(bundle: dict[str, str]) -> None:
        seen.append(bundle["text/plain"])
        if seen[-1] == first:  # while the model thinks
            hold.released.set()

    ran = kernel.start("%onyx Fit it", on_display)()
    assert ran.status == "ok", ran.traceback
    assert first in seen
    parts = ran.markdown.split("\n\n")
    assert parts[:2] == ["**Plan** · 1 of 2", "- ✓ Load \\*it\\*\n- ▸ **Fit**\n- – Ask"]
    listed, failed = parts[2].split("  \n")
    assert listed.startswith("✓ Listed")
    assert failed.startswith("✗ Plan · ")
    assert parts[3:] == ["Fitted."]
    (bundle,) = ran.displays.values()
    kinds = [part["kind"] for part in bundle["application/vnd.onyx.turn+json"]["parts"]]
    assert kinds == ["plan", "step", "step", "text"]
    assert bundle["application/vnd.onyx.turn+json"]["parts"][0]["steps"][1] == {"text": "Fit", "status": "doing"}


def test_unknown_name_is_an_error_without_traceback_and_nothing_is_sent(kernel: Cells, stage: Stage) -> None:
    kernel.run("frame = 1")
    ran = kernel.run("%onyx Look at {frme}")
    assert (ran.status, ran.ename) == ("error", "MagicError")
    assert "there is no variable frme. Did you mean frame?" in ran.traceback
    assert "Nothing was sent" in ran.traceback
    assert "File" not in ran.traceback
    assert stage.asked == []


def test_questions_of_a_kernel_share_a_session_visible_in_sidebar(kernel: Cells, stage: Stage, peer: Peer) -> None:
    stage.play("One.", "Two.", "Three.", "Four.")
    for question in ("first", "second", "--session new third", "fourth"):
        assert kernel.run(f"%onyx {question}").status == "ok"
    assert [len(request.body["messages"]) for request in stage.asked] == [2, 4, 2, 4]
    listed = [one for one in peer.ask("sessions.list")["sessions"] if one["title"] == kernel.notebook]
    assert [one["messageCount"] for one in listed] == [4, 4]
    newest = peer.ask("chat.history", sessionKey=listed[0]["sessionKey"])["messages"]
    assert newest[1]["meta"]["kernel"]["kernelId"] == kernel.kernel_id
    assert newest[1]["meta"]["kernel"]["path"] == listed[0]["title"]
    table = kernel.run("%onyx sessions").markdown
    title = kernel.notebook.replace("_", "\\_")
    assert f"| ● | {title} | now | 4 | `{listed[0]['sessionKey']}` |" in table
    assert f"| `{listed[1]['sessionKey']}` |" in table


def test_question_to_another_session_names_its_origin(kernel: Cells, stage: Stage, peer: Peer) -> None:
    key = peer.ask("sessions.create", title="Mine")["sessionKey"]
    stage.play("There.", "Here.")
    kernel.run(f"%onyx --session {key} over there")
    kernel.run("%onyx here")
    assert [message["content"] for message in peer.ask("chat.history", sessionKey=key)["messages"]][1:3] == [
        "over there",
        "There.",
    ]
    assert kernel.run("%onyx --session nobody hello").ename == "Refused"


def test_deleted_session_is_recreated(kernel: Cells, stage: Stage, lab: LabServer) -> None:
    stage.play("One.", "Two.")
    kernel.run("%onyx first")
    newest = max((lab.home / "sessions").rglob("*.jsonl"), key=lambda path: path.stat().st_mtime)
    newest.unlink()
    assert kernel.run("%onyx second").markdown == "Two."


def test_interrupt_stops_turn_and_display_says_so(kernel: Cells, stage: Stage, peer: Peer) -> None:
    hang = Hang()
    stage.play(["Half an answer", hang], "Again.")
    half = threading.Event()
    wait = kernel.start("%onyx Talk", lambda bundle: half.set() if "Half" in bundle["text/plain"] else None)
    assert half.wait(LIMIT_S)
    kernel.interrupt()
    ran = wait()
    assert (ran.status, ran.ename) == ("error", "MagicError")
    assert ran.markdown == "Half an answer\n\n*Stopped.*"
    assert "could not be reached" not in ran.markdown
    assert saw_disconnect(stage.asked[0], 5)
    (session, *_) = peer.ask("sessions.list", query="an_interrupt_stops")["sessions"]
    entries = peer.ask("chat.history", sessionKey=session["sessionKey"])["messages"]
    assert entries[-1]["meta"]["outcome"] == "aborted"
    assert kernel.run("%onyx Go on").markdown == "Again."


def test_provider_failure_is_shown_in_cell(kernel: Cells, stage: Stage) -> None:
    stage.play([HttpError(401, "Incorrect API key provided.", "invalid_api_key")])
    ran = kernel.run("%onyx Hello")
    assert ran.ename == "MagicError"
    assert "key" in ran.evalue
    assert "**The answer failed.**" in ran.markdown


def test_tool_calls_are_one_line_each_and_images_are_links(kernel: Cells, stage: Stage, lab: LabServer) -> None:
    lab.files.joinpath("data.txt").write_text("rows", "utf-8")
    read = Call("read", {"path": "data.txt"})
    stage.play(
        ["I look.", read], [Call("read", {"path": "none.txt"})], "Done. ![x](https://evil.example/?q=1) <img src=x>"
    )
    ran = kernel.run("%onyx Look")
    said, steps, done = ran.markdown.split("\n\n")
    assert said == "I look."
    first, second = steps.split("  \n")
    assert first == "✓ Read data.txt"
    assert second.startswith("✗ Read none.txt · ")
    assert "failed (" not in second, "the reason alone"
    assert done == "Done. ![x](https://evil.example/?q=1) <img src=x>"
    assert "<img" not in ran.html
    assert ">x</a> (evil.example) &lt;img src=x&gt;" in ran.html


def test_cell_of_asking_notebook_cannot_be_run_and_model_is_told(kernel: Cells, stage: Stage) -> None:
    stage.play([Call("notebook_run_cell", {"path": kernel.notebook, "cellId": "cell-1"})], "Run it yourself, please.")
    ran = kernel.run("%onyx Run the first cell")
    assert ran.status == "ok"
    assert ran.markdown.endswith("Run it yourself, please.")
    assert "its kernel is waiting for your answer" in tool_results(stage.asked[1])[-1]


def test_token_is_in_no_address_or_log(kernel: Cells, stage: Stage, lab: LabServer) -> None:
    stage.play("Hello.")
    assert kernel.run("%onyx Hello").status == "ok"
    log = lab.log.read_text("utf-8")
    assert f"token={TOKEN}" not in log.replace(f"/lab?token={TOKEN}", "")


def test_unloading_removes_magic_and_loading_twice_changes_nothing(kernel: Cells, stage: Stage) -> None:
    stage.play("Once.")
    kernel.run("%load_ext onyx_jupyter\n%reload_ext onyx_jupyter")
    assert kernel.run("%onyx Hello there?").markdown == "Once."
    kernel.run("%unload_ext onyx_jupyter")
    gone: Ran = kernel.run("%onyx help")
    assert gone.markdown == ""
    assert kernel.run("get_ipython().find_line_magic('onyx').x").status == "error"


def test_help_memory_and_unknown_option_need_no_model(kernel: Cells, stage: Stage, lab: LabServer) -> None:
    lab.home.joinpath("workspace", "memory").mkdir(parents=True, exist_ok=True)
    lab.home.joinpath("workspace", "memory", "2026-01-02.md").write_text("# Work\n\nThe *fiscal* year: April.", "utf-8")
    assert "%onyx memory" in kernel.run("%onyx help").markdown
    assert "%onyx memory" in kernel.run("%onyx").markdown

    def found() -> str:
        return kernel.run("%onyx memory fiscal year").markdown

    until(lambda: "`memory/2026-01-02.md:" in found())  # once the change has been noticed
    assert "The \\*fiscal\\* year: April." in found()
    assert "`memory/2026-01-02.md:" in kernel.run("%onyx memory --since 2026-01-02 --until 2026-01-02 fiscal").markdown
    assert (
        "Nothing found in memory for these dates" in kernel.run("%onyx memory --since 2026-01-03 fiscal year").markdown
    )
    assert "%onyx -- memory zebra" in kernel.run("%onyx memory zebra").markdown
    unknown = kernel.run("%onyx --sesion x hello")
    assert "There is no option --sesion. Did you mean --session?" in unknown.traceback
    assert stage.asked == []
