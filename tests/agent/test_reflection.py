"""An agent that looks at its answer once more before the answer counts."""

from onyx_jupyter.agent.reflection import NOTE
from onyx_jupyter.testing.script import Call, Say
from tests.runs.house import House

AGENTS = (
    'agents: { list: [{ id: "main", default: true, model: "scripted/model", reflectionPrompt: "Is that right?" }] }'
)
REFLECT = f"{{ {AGENTS} }}"
TOUCH = Call("touch", {"word": "x"})


async def test_second_answer_is_used_and_both_are_parsed_separately(tmp_path):
    house = House(tmp_path, ["It is 41.", "It is 42."], config=REFLECT)
    key = await house.session()
    name, data = await house.run(key)
    assert (name, data["text"]) == ("chat.final", "It is 42.")
    assert house.names() == ["chat.started", "chat.delta", "chat.note", "chat.delta", "chat.final"]
    assert "".join(delta["text"] for delta in house.of("chat.delta")) == "It is 41.\n\nIt is 42."
    assert house.of("chat.note")[0]["message"] == NOTE
    assert [line["content"] for line in house.lines(key) if line["role"] == "assistant"] == ["It is 41.", "It is 42."]


async def test_reflection_is_requested_once_with_agent_prompt_and_not_attributed_to_user(tmp_path):
    house = House(tmp_path, ["It is 41.", "It is 42.", "Bye", "NO_REPLY"], config=REFLECT)
    key = await house.session()
    await house.run(key)
    assert len(house.model.requests) == 2
    *before, question = house.model.requests[1].messages
    assert [(message.role, message.content) for message in before] == [("user", "Please"), ("assistant", "It is 41.")]
    assert question.role == "user"
    assert question.content.startswith("[Onyx] Is that right?")
    assert [line["content"] for line in house.lines(key) if line["role"] == "user"] == ["Please"]
    await house.run(key, "Bye")
    assert list(house.model.requests[2].messages[:3]) == [*before, question]


async def test_unchanged_answer_becomes_final_and_nothing_follows(tmp_path):
    house = House(tmp_path, ["It is 42.", [Say("NO_REPLY", 1)]], config=REFLECT)
    key = await house.session()
    assert (await house.run(key))[1]["text"] == "It is 42."
    assert "".join(delta["text"] for delta in house.of("chat.delta")) == "It is 42."


async def test_reflection_may_use_tools(tmp_path):
    house = House(tmp_path, ["It is 41.", ["Let me see.", Call("peek")], "It is 42."], config=REFLECT)
    key = await house.session()
    assert (await house.run(key))[1]["text"] == "It is 42."
    assert house.peek.done == ["x"]
    assert len(house.model.requests) == 3


async def test_no_reflection_without_prompt_or_answer(tmp_path):
    plain, silent = tmp_path / "plain", tmp_path / "silent"
    plain.mkdir()
    silent.mkdir()
    for folder, answer, config in ((plain, "It is 42.", None), (silent, "NO_REPLY", REFLECT)):
        house = House(folder, [answer], config=config)
        assert (await house.run(await house.session()))[0] == "chat.final"
        assert len(house.model.requests) == 1
        await house.close()


async def test_reflection_is_not_repeated_after_restart(tmp_path):
    house = House(tmp_path, ["It is 41.", ["Let me try.", TOUCH]], config=REFLECT)
    key = await house.session()
    run_id = await house.send(key)
    await house.asked()
    await house.close()
    again = House(tmp_path, ["NO_REPLY"], config=REFLECT)
    await again.onyx.ready()
    _, missed = again.onyx.streams.subscribe(key, again.receive, None)
    for frame in missed:
        again.receive(frame)
    await again.approve()
    name, data = await again.end(run_id)
    assert (name, data["text"]) == ("chat.final", "It is 41.")
    assert "".join(delta["text"] for delta in again.of("chat.delta")) == "It is 41.\n\nLet me try."
    assert again.touch.done == ["x"]


async def test_answer_of_last_turn_gets_no_reflection(tmp_path):
    config = f"{{ {AGENTS}, runtime: {{ maxTurns: 1 }} }}"
    house = House(tmp_path, [[Call("peek")], "That is all."], config=config)
    key = await house.session()
    assert (await house.run(key))[1]["text"] == "That is all."
