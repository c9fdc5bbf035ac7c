"""A run that has spent its tokens ends before the next model call, and says so."""

from onyx_jupyter.testing.script import Call, Tokens
from tests.runs.house import House

BUDGET = "{ runtime: { maxTokensPerRun: 1000 } }"
PEEK = Call("peek", {"word": "x"})


async def test_exceeded_budget_ends_run_after_its_calls_and_names_setting(tmp_path):
    house = House(tmp_path, [[PEEK, Tokens(400, 100)], [PEEK, Tokens(400, 100)], "never"], config=BUDGET)
    key = await house.session()
    name, data = await house.run(key)
    assert name == "chat.final"
    assert "used 1,000 tokens" in data["text"]
    assert "`runtime.maxTokensPerRun`" in data["text"]
    assert data["usage"] == {"inputTokens": 800, "outputTokens": 200}
    assert len(house.model.requests) == 2
    assert [line["content"] for line in house.results(key).values()] == ["saw x"] * 2


async def test_answer_that_uses_up_the_budget_is_complete(tmp_path):
    house = House(tmp_path, [["Here it is.", Tokens(5000, 5000)]] * 2, config=BUDGET)
    key = await house.session()
    assert (await house.run(key))[1]["text"] == "Here it is."
    assert (await house.run(key, "Again"))[1]["text"] == "Here it is."  # each run has its own


async def test_without_budget_nothing_is_counted(tmp_path):
    house = House(tmp_path, [[PEEK, Tokens(10**9, 1)], "Done"])
    key = await house.session()
    assert (await house.run(key))[1]["text"] == "Done"


async def test_tokens_spent_before_restart_count(tmp_path):
    house = House(tmp_path, [[Call("touch", {"word": "x"}), Tokens(900, 100)]], config=BUDGET)
    key = await house.session()
    run_id = await house.send(key)
    await house.asked()
    await house.close()
    again = House(tmp_path, ["never"], config=BUDGET)
    await again.onyx.ready()
    again.onyx.streams.watch(key, again.receive)
    await again.approve()
    _, data = await again.end(run_id)
    assert "`runtime.maxTokensPerRun`" in data["text"]
    assert again.touch.done == ["x"]
    assert again.model.requests == []
