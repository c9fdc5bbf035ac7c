"""What waits for a person: asked through `input()`, in the card of an open tab, or denied where nobody can answer."""

import threading

from onyx_jupyter.testing.script import Call
from tests.e2e.lab_server import LabServer
from tests.e2e.stage import Stage, tool_results
from tests.magics.cells import LIMIT_S, Cells
from tests.magics.conftest import Peer

CARD = "*Waiting for your answer, here or in the Onyx sidebar.*"


def touch(name: str) -> list[Call]:
    return [Call("exec", {"command": f"touch {name}"})]


def test_yes_at_prompt_runs_once(kernel: Cells, stage: Stage, lab: LabServer) -> None:
    stage.play(["I make it.", *touch("yes-1.txt")], touch("yes-2.txt"), "Made.")
    asked: list[str] = []
    shown: list[bool] = []

    def person(prompt: str) -> str:
        asked.append(prompt)
        shown.append(lab.files.joinpath("yes-1.txt").exists())
        return "hm" if len(asked) == 1 else "y"

    ran = kernel.run("%onyx Make them", person)
    assert ran.status == "ok", ran.traceback
    assert len(asked) == 3  # an answer that is neither is asked again, and each command by itself
    assert shown == [False, False, True]
    assert lab.files.joinpath("yes-2.txt").exists()
    assert ran.markdown == "I make it.\n\n✓ Ran `touch yes-1.txt`  \n✓ Ran `touch yes-2.txt`\n\nMade."


def test_prompt_shows_exact_call_and_denial_reaches_model(kernel: Cells, stage: Stage, lab: LabServer) -> None:
    stage.play(["I need it.", Call("exec", {"command": "touch no.txt\necho `x` *y*"})], "As you like.")
    shown: list[str] = []

    def person(prompt: str) -> str:
        shown.append(prompt)
        return "n use python instead"

    ran = kernel.run("%onyx Make it", person)
    assert "y = yes, once" in shown[0]
    (question,) = ran.at_prompts
    assert "**Onyx asks: " in question
    assert "```bash\ntouch no.txt\necho `x` *y*\n```" in question
    assert not lab.files.joinpath("no.txt").exists()
    assert "Denied: use python instead" in tool_results(stage.asked[1])[-1]
    assert "⊘ Run `touch no.txt` · Denied: use python instead" in ran.markdown
    assert ran.markdown.endswith("As you like.")


def test_session_approval_applies_to_next_question(kernel: Cells, stage: Stage, lab: LabServer) -> None:
    stage.play(touch("again.txt"), "One.", touch("again.txt"), "Two.")
    prompts: list[str] = []
    assert kernel.run("%onyx first", lambda prompt: (prompts.append(prompt), "s")[1]).status == "ok"
    assert kernel.run("%onyx second", lambda prompt: (prompts.append(prompt), "n")[1]).status == "ok"
    assert len(prompts) == 1
    assert "for this session" in prompts[0]


def test_agent_question_is_answered_by_number_text_or_skipped(kernel: Cells, stage: Stage) -> None:
    ask = Call("ask_user", {"question": "Which month?", "choices": ["March", "April"]})
    only = Call("ask_user", {"question": "Which?", "choices": ["A", "B"], "freeText": False})
    stage.play([ask], [ask], [ask], [only], "Thanks.")
    answers = iter(["2", "rather May", "", "C", "B"])
    ran = kernel.run("%onyx Plot a month", lambda prompt: next(answers))
    assert ran.status == "ok"
    told = tool_results(stage.asked[-1])
    assert told[:2] == ["The user answered: April", "The user answered: rather May"]
    assert "chose not to answer" in told[2]
    assert told[3] == "The user answered: B"


def test_without_input_call_is_denied_with_reason(kernel: Cells, stage: Stage, lab: LabServer, peer: Peer) -> None:
    stage.play([*touch("nobody.txt"), Call("ask_user", {"question": "Sure?"})], "I could not.")
    ran = kernel.run("%onyx Make it")
    assert ran.status == "ok"
    assert not lab.files.joinpath("nobody.txt").exists()
    denied, skipped = tool_results(stage.asked[1])[-2:]
    assert "this notebook runs without input" in denied
    assert "chose not to answer" in skipped
    assert "This needs approval, but" in ran.markdown
    assert peer.ask("approvals.list")["approvals"] == []


def test_open_tab_answers_and_nobody_is_prompted(kernel: Cells, stage: Stage, lab: LabServer, peer: Peer) -> None:
    peer.ask("client.update", notebooks=[{"path": kernel.notebook, "active": True}])
    stage.play([*touch("card.txt")], "Made.")
    waits = threading.Event()
    wait = kernel.start("%onyx Make it", lambda bundle: waits.set() if CARD in bundle["text/plain"] else None)
    assert waits.wait(LIMIT_S)
    (approval,) = peer.ask("approvals.list")["approvals"]
    assert approval["details"]["command"] == "touch card.txt"
    peer.ask("exec.approve", approvalId=approval["approvalId"])
    ran = wait()
    assert ran.markdown == "✓ Ran `touch card.txt`\n\nMade."
    assert lab.files.joinpath("card.txt").exists()


def test_answer_given_elsewhere_during_prompt_counts_once(
    kernel: Cells, stage: Stage, lab: LabServer, peer: Peer
) -> None:
    stage.play(touch("elsewhere.txt"), "Not made.")

    def person(prompt: str) -> str:
        (approval,) = peer.ask("approvals.list")["approvals"]
        peer.ask("exec.deny", approvalId=approval["approvalId"], reason="not now")
        return "y"

    ran = kernel.run("%onyx Make it", person)
    assert ran.status == "ok", ran.traceback
    assert not lab.files.joinpath("elsewhere.txt").exists()
    assert "not now" in ran.markdown


def test_interrupt_at_prompt_stops_turn(kernel: Cells, stage: Stage, lab: LabServer, peer: Peer) -> None:
    stage.play(touch("interrupted.txt"))

    def person(prompt: str) -> str:
        kernel.interrupt()
        return "y"

    ran = kernel.run("%onyx Make it", person)
    assert ran.ename == "MagicError"
    assert "*Stopped.*" in ran.markdown
    assert not lab.files.joinpath("interrupted.txt").exists()
    assert peer.ask("approvals.list")["approvals"] == []
