"""Skills on the socket of a real server."""

import json
import stat

import nbformat
import psutil
import pytest

from tests.server.client import MethodFailed
from tests.server.conftest import KEY
from tests.server.processes import lives
from tests.skills.notebooks import cell, notebook, write_notebook, write_text_skill


@pytest.fixture
def skills_folder(onyx_home):
    return onyx_home / "skills"


async def named(client, name):
    return next(item for item in (await client.ask("skills.list"))["skills"] if item["name"] == name)


async def test_skills_are_listed_with_state_reason_and_form(connect, skills_folder, jp_root_dir):
    parameters = 'path: Path = Path("a.csv")  # the table\nrows: int = 5\nkind: Literal["a", "b"] = "a"\nname: str'
    write_notebook(skills_folder / "count.ipynb", cell(parameters, "parameters"), cell("rows"))
    write_text_skill(jp_root_dir / ".onyx" / "skills" / "house-style")
    (skills_folder / "odd.ipynb").write_text("{")
    client = await connect()
    found = {item["name"]: item for item in (await client.ask("skills.list"))["skills"]}
    assert (found["count"]["source"], found["count"]["state"]) == ("home", "untrusted")
    assert (found["house-style"]["source"], found["house-style"]["state"]) == ("project", "untrusted")
    assert found["odd"]["state"] == "broken"
    assert "JSON" in found["odd"]["reason"]
    assert found["house-style"]["path"] == "Onyx:project-skills/house-style/SKILL.md"
    assert found["count"]["path"] == "Onyx:skills/count.ipynb"
    form = found["count"]["parameters"]
    assert [(item["name"], item["type"], item["required"], item["default"]) for item in form["fields"]] == [
        ("path", "path", False, "a.csv"),
        ("rows", "integer", False, 5),
        ("kind", "choice", False, "a"),
        ("name", "string", True, None),
    ]
    assert form["fields"][0]["description"] == "the table"
    assert form["jsonSchema"]["required"] == ["name"]
    assert form["jsonSchema"]["additionalProperties"] is False


async def test_user_trusts_shown_version_and_sees_later_changes(connect, skills_folder, onyx_home):
    path = write_notebook(skills_folder / "count.ipynb", cell("print(1)"))
    client = await connect()
    shown = await client.ask("skills.get", name="count")
    assert "print(1)" in shown["text"]
    assert shown["diff"] is None
    trusted = (await client.ask("skills.trust", name="count", hash=shown["skill"]["hash"]))["skill"]
    assert (trusted["state"], trusted["trusted"]) == ("ready", True)
    await client.event("skills.updated")

    write_notebook(path, cell("print(2)"))
    with pytest.raises(MethodFailed) as refused:
        await client.ask("skills.trust", name="count", hash=shown["skill"]["hash"])
    assert refused.value.data["field"] == "hash"
    now = await client.ask("skills.get", name="count")
    assert (now["skill"]["state"], now["skill"]["changed"]) == ("untrusted", True)
    assert "-print(1)\n+print(2)" in now["diff"]
    entries = [json.loads(line) for line in (onyx_home / "audit.jsonl").read_text().splitlines()]
    (entry,) = [entry for entry in entries if entry["event"] == "skill_trusted"]
    assert (entry["skill"], entry["sha256"]) == ("count", shown["skill"]["hash"])
    assert entry["by"].startswith("user:")


async def test_missing_and_broken_skills_are_rejected(connect, skills_folder):
    write_notebook(skills_folder / "odd.ipynb", cell("n = = 1", "parameters"))
    client = await connect()
    with pytest.raises(MethodFailed, match="There is no skill 'ghost'"):
        await client.ask("skills.get", name="ghost")
    odd = await named(client, "odd")
    with pytest.raises(MethodFailed, match="does not parse"):
        await client.ask("skills.trust", name="odd", hash=odd["hash"])
    with pytest.raises(MethodFailed, match="no agent"):
        await client.ask("skills.list", agentId="ghost")


async def test_shadowed_skill_can_still_be_viewed(connect, skills_folder, onyx_home):
    write_notebook(skills_folder / "count.ipynb", cell("print('far')"))
    write_notebook(onyx_home / "workspace" / "skills" / "count.ipynb", cell("print('near')"))
    client = await connect()
    found = [item for item in (await client.ask("skills.list"))["skills"] if item["name"] == "count"]
    assert [(item["source"], item["state"], item["path"]) for item in found] == [
        ("workspace", "untrusted", "Onyx:workspace/skills/count.ipynb"),
        ("home", "shadowed", "Onyx:skills/count.ipynb"),
    ]
    assert "near" in (await client.ask("skills.get", name="count"))["text"]
    far = await client.ask("skills.get", name="count", id=found[1]["id"])
    assert "far" in far["text"]
    trusted = await client.ask("skills.trust", name="count", id=found[1]["id"], hash=far["skill"]["hash"])
    assert (trusted["skill"]["id"], trusted["skill"]["trusted"]) == (found[1]["id"], True)
    found = [item for item in (await client.ask("skills.list"))["skills"] if item["name"] == "count"]
    assert [(item["source"], item["trusted"]) for item in found] == [("workspace", False), ("home", True)]


async def trusted(client, name):
    shown = await client.ask("skills.get", name=name)
    await client.ask("skills.trust", name=name, hash=shown["skill"]["hash"])


async def ran(client, name, **parameters):
    """The run's end, and its result."""
    run_id = (await client.ask("skills.run", name=name, parameters=parameters))["runId"]
    end = await client.event("skills.run_finished", runId=run_id)
    return end, await client.ask("skills.result", runId=run_id)


async def test_user_runs_notebook_with_own_parameters(connect, skills_folder, jp_root_dir, onyx_home):
    (jp_root_dir / "a.csv").write_text("x\n1\n2\n")
    write_notebook(
        skills_folder / "count.ipynb",
        cell("# Count\nHow many lines a file has.", kind="markdown"),
        cell('from pathlib import Path\npath: Path = Path("none.csv")\ntimes: int = 1', "parameters"),
        cell("lines = path.read_text().splitlines()\nprint('looking')"),
        cell("f'{len(lines) * times} {type(path).__name__}'", "result"),
        cell("print('not the result')"),
        requires={"python": ["ipykernel"]},
    )
    client = await connect()
    await trusted(client, "count")
    end, result = await ran(client, "count", path="a.csv", times=2)
    assert (end["status"], end["error"], result["text"]) == ("ok", None, "'6 PosixPath'")
    assert [output["output_type"] for output in result["outputs"]] == ["execute_result"]
    assert set(end["versions"]) == {"python", "ipykernel"}
    started = client.events("skills.run_started")[0]
    assert (started["status"], started["parameters"]) == ("running", {"path": "a.csv", "times": 2})
    steps = {data["index"]: data["cell"] for data in client.events("skills.run_progress")}
    assert steps == {
        1: "Parameters",
        2: "Parameters",
        3: "Count",
        4: "f'{len(lines) * times} {type(path).__name__}'",
        5: "print('not the result')",
    }
    assert {data["total"] for data in client.events("skills.run_progress")} == {5}
    assert "looking" in {data["line"] for data in client.events("skills.run_progress")}

    assert [run["runId"] for run in (await client.ask("skills.runs", name="count"))["runs"]] == [end["runId"]]
    assert (await client.ask("skills.runs", name="other"))["runs"] == []
    copy = (await client.ask("skills.copy", runId=end["runId"]))["notebook"]
    nbformat.validate(copy)
    kept = copy["metadata"]["onyx"]
    assert kept["skill"]["name"] == "count"
    assert kept["run"]["status"] == "ok"
    assert len(kept["run"]["inputHash"]) == 64
    assert kept["run"]["parameters"] == {"path": "a.csv", "times": 2}
    (file,) = (onyx_home / "runs").glob("*.ipynb")
    assert str(file) == end["copyLocation"]
    assert end["copyPath"] == f"Onyx:runs/{file.name}"
    assert {stat.S_IMODE(path.stat().st_mode) for path in (onyx_home / "runs").iterdir()} == {0o600}
    entries = [json.loads(line) for line in (onyx_home / "audit.jsonl").read_text().splitlines()]
    (entry,) = [entry for entry in entries if entry["event"] == "skill_run"]
    assert (entry["skill"], entry["status"], entry["run"]) == ("count", "ok", end["runId"])


async def test_input_hash_distinguishes_data(connect, skills_folder, jp_root_dir):
    source = 'from pathlib import Path\npath: Path = Path("a.csv")'
    write_notebook(skills_folder / "look.ipynb", cell(source, "parameters"), cell("1"))
    client = await connect()
    await trusted(client, "look")
    hashes = []
    for text in ("one", "one", "two"):
        (jp_root_dir / "a.csv").write_text(text)
        end, _ = await ran(client, "look", path="a.csv")
        copy = (await client.ask("skills.copy", runId=end["runId"]))["notebook"]
        hashes.append(copy["metadata"]["onyx"]["run"]["inputHash"])
    assert hashes[0] == hashes[1] != hashes[2]


async def test_error_ends_run_and_keeps_its_outputs(connect, skills_folder):
    write_notebook(
        skills_folder / "fail.ipynb",
        cell("print('before')"),
        cell("# ## Breaks\n1 / 0"),
        cell("print('never')", "result"),
    )
    client = await connect()
    await trusted(client, "fail")
    end, result = await ran(client, "fail")
    assert end["status"] == "failed"
    assert end["error"] == "Cell 2 (Breaks): ZeroDivisionError: division by zero"
    assert "ZeroDivisionError" in result["text"]
    assert "never" not in result["text"]
    cells = (await client.ask("skills.copy", runId=end["runId"]))["notebook"]["cells"]
    assert [bool(made["outputs"]) for made in cells] == [True, True, False]


async def test_input_request_is_an_error_and_raises_exception_tag_is_not(connect, skills_folder):
    write_notebook(skills_folder / "ask.ipynb", cell("1 / 0", "raises-exception"), cell("input('Who?')"))
    client = await connect()
    await trusted(client, "ask")
    end, _ = await ran(client, "ask")
    assert end["status"] == "failed"
    assert end["error"].startswith("Cell 2")
    assert "StdinNotImplementedError" in end["error"]


async def test_dying_kernel_is_reported(connect, skills_folder):
    write_notebook(skills_folder / "die.ipynb", cell("print('last words')"), cell("import os\nos._exit(3)"))
    client = await connect()
    await trusted(client, "die")
    end, result = await ran(client, "die")
    assert end["status"] == "failed"
    assert "kernel died in cell 2" in end["error"]
    assert "last words" in result["text"]


WAITS = """
import subprocess, time, os
child = subprocess.Popen(["sleep", "600"])
print(os.getpid(), child.pid, flush=True)
time.sleep(600)
"""


async def under_way(client, run_id):
    """The numbers of the kernel and of what it has started."""
    said = await client.until(
        lambda frame: frame.get("event") == "skills.run_progress" and frame["data"]["line"].count(" ") == 1
    )
    assert said["data"]["runId"] == run_id
    return [int(word) for word in said["data"]["line"].split()]


async def test_stop_ends_kernel_and_its_children(connect, skills_folder):
    write_notebook(skills_folder / "wait.ipynb", cell("print('done')"), cell(WAITS))
    client = await connect()
    await trusted(client, "wait")
    run_id = (await client.ask("skills.run", name="wait"))["runId"]
    pids = await under_way(client, run_id)
    assert all(map(lives, pids))
    assert (await client.ask("skills.runs"))["runs"][0]["progress"]["index"] == 2
    assert (await client.ask("skills.stop", runId=run_id))["ok"]
    assert not any(map(lives, pids))
    end = await client.event("skills.run_finished", runId=run_id)
    assert end["status"] == "stopped"
    copy = (await client.ask("skills.copy", runId=run_id))["notebook"]
    assert copy["metadata"]["onyx"]["run"]["status"] == "stopped"
    assert copy["cells"][0]["outputs"][0]["text"] == "done\n"
    assert not (await client.ask("skills.stop", runId=run_id))["ok"]


async def test_run_over_time_limit_is_stopped(connect, skills_folder, onyx_home):
    config = json.loads((onyx_home / "onyx.json").read_text())
    (onyx_home / "onyx.json").write_text(json.dumps({**config, "skills": {"timeoutMs": 1500}}))
    write_notebook(skills_folder / "wait.ipynb", cell(WAITS))
    client = await connect()
    await trusted(client, "wait")
    end, _ = await ran(client, "wait")
    assert end["status"] == "timeout"
    assert "1.5 s" in end["error"]
    left = [process for process in psutil.Process().children(recursive=True) if lives(process.pid)]
    commands = [" ".join(process.cmdline()) for process in left]
    assert not [command for command in commands if "skill_process" in command or "sleep 600" in command]


async def test_secret_parameter_is_redacted_and_its_mark_never_run(connect, skills_folder):
    address = "postgres://ada:c4nnot9Gu3ss@db.example/prod"
    write_notebook(skills_folder / "load.ipynb", cell("url: str = ''", "parameters"), cell("print(len(url))", "result"))
    client = await connect()
    await trusted(client, "load")
    end, result = await ran(client, "load", url=address)
    assert result["text"].strip() == str(len(address))
    copy = await client.ask("skills.copy", runId=end["runId"])
    for told in (end, result, copy, client.raw):
        assert "c4nnot9Gu3ss" not in json.dumps(told)
    kept = end["parameters"]["url"]
    assert "[redacted:" in kept
    with pytest.raises(MethodFailed, match=r"`url` contains \[redacted:"):
        await client.ask("skills.run", name="load", parameters={"url": kept})


async def test_excess_output_is_left_out_with_notice(connect, skills_folder):
    flood = "for _ in range(60): print('x' * 200_000)\nprint('the end')"
    page = "from IPython.display import HTML\nHTML('y' * 9_000_000)"
    write_notebook(skills_folder / "flood.ipynb", cell(flood), cell(page))
    client = await connect()
    await trusted(client, "flood")
    end, _ = await ran(client, "flood")
    assert end["status"] == "ok"
    copy = json.dumps((await client.ask("skills.copy", runId=end["runId"]))["notebook"])
    assert len(copy) < 6_000_000
    assert copy.count("Too much output") == 2


REFUSED = {
    "unknown": ({"rows": 3, "colour": 1}, "`colour` is not known"),
    "wrong type": ({"rows": "3"}, "`rows`"),
    "true is no number": ({"rows": True}, "`rows`"),
    "missing": ({}, "`rows` is missing"),
    "no choice": ({"rows": 1, "kind": "c"}, "`kind`"),
}


@pytest.mark.parametrize(("given", "message"), REFUSED.values(), ids=REFUSED.keys())
async def test_invalid_parameters_are_rejected_by_name(connect, skills_folder, onyx_home, given, message):
    source = 'rows: int\nkind: Literal["a", "b"] = "a"'
    write_notebook(skills_folder / "count.ipynb", cell(source, "parameters"), cell("1"))
    client = await connect()
    await trusted(client, "count")
    with pytest.raises(MethodFailed) as refused:
        await client.ask("skills.run", name="count", parameters=given)
    assert message in str(refused.value)
    assert refused.value.data["code"] == "invalid_arguments"
    assert [*(onyx_home / "runs").glob("*")] == []


async def test_unready_skill_is_not_run(connect, skills_folder, onyx_home, jp_root_dir):
    write_notebook(skills_folder / "new.ipynb", cell("1"))
    write_notebook(skills_folder / "needy.ipynb", cell("1"), requires={"bins": ["no-such-program"]})
    write_text_skill(skills_folder / "words")
    (skills_folder / "odd.ipynb").write_text("{")
    client = await connect()
    await trusted(client, "words")
    for name, code in (
        ("new", "skill_untrusted"),
        ("needy", "skill_missing"),
        ("odd", "skill_broken"),
        ("words", "tool_error"),
        ("ghost", "not_found"),
    ):
        with pytest.raises(MethodFailed) as refused:
            await client.ask("skills.run", name=name)
        assert refused.value.data["code"] == code
    await trusted(client, "new")
    with pytest.raises(MethodFailed) as refused:
        await client.ask("skills.run", name="new", path="../elsewhere.ipynb")
    assert refused.value.data["code"] == "path_not_allowed"
    assert [*(onyx_home / "runs").glob("*")] == []
    with pytest.raises(MethodFailed) as refused:
        await client.ask("skills.result", runId="../../onyx")
    assert refused.value.data["code"] == "not_found"


async def test_runs_in_folder_of_current_notebook(connect, skills_folder, jp_root_dir):
    (jp_root_dir / "sub").mkdir()
    write_notebook(skills_folder / "where.ipynb", cell("import os\nos.path.basename(os.getcwd())"))
    client = await connect()
    await trusted(client, "where")
    run_id = (await client.ask("skills.run", name="where", path="sub/any.ipynb"))["runId"]
    await client.event("skills.run_finished", runId=run_id)
    assert (await client.ask("skills.result", runId=run_id))["text"] == "'sub'"


async def test_notebook_gets_only_keys_it_names(connect, skills_folder, monkeypatch):
    monkeypatch.setenv("WEATHER_API_KEY", "sunny")
    monkeypatch.setenv("OTHER_API_KEY", "cloudy")
    source = "import os\n[len(os.environ.get(name, '')) for name in ('WEATHER_API_KEY', 'OTHER_API_KEY')]"
    write_notebook(skills_folder / "keys.ipynb", cell(source), requires={"env": ["WEATHER_API_KEY"]})
    client = await connect()
    await trusted(client, "keys")
    assert (await ran(client, "keys"))[1]["text"] == "[5, 0]"


async def test_sent_data_is_redacted(connect, skills_folder):
    write_notebook(skills_folder / "leak.ipynb", cell(f"print('key {KEY}', flush=True)"))
    client = await connect()
    await trusted(client, "leak")
    await ran(client, "leak")
    sent = [raw for raw in client.raw if "skills.run" in raw or '"outputs"' in raw]
    assert sent
    assert not any(KEY in raw for raw in sent)


async def test_notebook_becomes_skill_that_runs_with_other_values(connect, jp_root_dir, onyx_home):
    content = notebook(
        [
            cell("# Doubling\n\nDoubles a number.", kind="markdown"),
            cell("number = 21  # what is doubled"),
            cell("number * 2", "result"),
        ]
    )
    content["cells"][1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "old"}]
    (jp_root_dir / "Double it.ipynb").write_text(json.dumps(content))
    client = await connect()
    proposal = await client.ask("skills.propose", path="Double it.ipynb")
    assert {name: proposal[name] for name in ("name", "description", "parameters", "problem")} == {
        "name": "double-it",
        "description": "Doubles a number.",
        "parameters": "# Parameters\nnumber: int = 21  # what is doubled",
        "problem": None,
    }
    assert [field["name"] for field in proposal["fields"]] == ["number"]
    wish = {name: proposal[name] for name in ("name", "description", "parameters")} | {"path": "Double it.ipynb"}
    saved = (await client.ask("skills.save", **wish))["skill"]
    assert (saved["state"], saved["source"], saved["path"]) == (
        "ready",
        "workspace",
        "Onyx:workspace/skills/double-it.ipynb",
    )
    await client.event("skills.updated")
    end, result = await ran(client, "double-it", number=4)
    assert (end["status"], result["text"]) == ("ok", "8")

    with pytest.raises(MethodFailed) as refused:
        await client.ask("skills.save", **wish)
    assert refused.value.data["field"] == "name"
    assert (await client.ask("skills.save", **wish, overwrite=True))["skill"]["state"] == "ready"
    in_project = (await client.ask("skills.save", **wish, place="project"))["skill"]
    assert (in_project["source"], in_project["state"]) == ("project", "ready")
    assert (await named(client, "double-it"))["source"] == "project"
    assert json.loads((jp_root_dir / "Double it.ipynb").read_text()) == content


async def test_notebook_that_cannot_become_skill_says_why(connect, jp_root_dir):
    (jp_root_dir / "plain.ipynb").write_text(json.dumps(notebook([cell("compute()")])))
    client = await connect()
    assert "plain value" in (await client.ask("skills.propose", path="plain.ipynb"))["problem"]
    with pytest.raises(MethodFailed) as refused:
        await client.ask("skills.propose", path="ghost.ipynb")
    assert refused.value.data["code"] == "not_found"
    wish = {"path": "plain.ipynb", "name": "plain", "description": "Computes."}
    with pytest.raises(MethodFailed) as refused:
        await client.ask("skills.save", **wish, parameters="n = = 1")
    assert refused.value.data["field"] == "parameters"
    with pytest.raises(MethodFailed) as refused:
        await client.ask("skills.save", **wish, place="packaged")
    assert refused.value.data["field"] == "place"


async def test_open_notebook_is_requested_from_its_tab(connect, jp_root_dir):
    (jp_root_dir / "open.ipynb").write_text(json.dumps(notebook([cell("n = 1")])))
    client = await connect()
    await client.ask("client.update", notebooks=[{"path": "open.ipynb", "active": True}])
    asking = await client.post("skills.propose", path="open.ipynb")
    asked = await client.event("client.request", action="notebook.read")
    gone = {"code": "not_open", "message": "It was closed."}
    await client.ask("client.update", notebooks=[])
    await client.ask("client.respond", requestId=asked["requestId"], error=gone)
    assert (await client.answer(asking))["result"]["parameters"] == "# Parameters\nn: int = 1"
