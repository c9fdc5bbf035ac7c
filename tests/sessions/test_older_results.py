"""Results of earlier versions, which hold only English, are read with the data, labels and failures of today."""

import json
from pathlib import Path

import pytest

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.sessions.entry import Entry, from_json, to_json
from onyx_jupyter.sessions.older_results import ACTIVITIES, display_entries, with_current_form
from onyx_jupyter.sessions.transcript_repair import read_session

STORED = Path(__file__).parents[1] / "golden" / "home" / "sessions" / "main" / "01M88C3AZA72QC6Q12R9MX8EWW.jsonl"
INSERTED = "Inserted code cell c1 (hash 0123) into a.ipynb.\n"


def read(tool, output, status="ok", /, **arguments):
    """The `meta` of such a result as it is read today."""
    call = ToolCall("c", tool, arguments)
    meta = {"runId": "r", "tool": tool, "ok": status == "ok", "status": status}
    entry = Entry("e", None, "", "tool", output, tool_call_id="c", meta=meta)
    return with_current_form(entry, call).meta


def links(meta):
    return meta["label"]["links"]


def told(*cells):
    return [{"number": number, "id": cell_id} for number, cell_id in cells]


def test_stored_session_of_earlier_version_gets_labels_and_is_unchanged_on_disk():
    before = STORED.read_bytes()
    entries = read_session(STORED).entries
    results = {entry.meta["tool"]: entry.meta for entry in display_entries(entries, entries) if entry.role == "tool"}
    assert {tool: meta["label"]["action"] for tool, meta in results.items()} == {
        "list": "list_folder",
        "exec": "run_command",
        "ask_user": "ask_person",
        "memory_write": "write_memory",
        "notebook_insert_cell": "insert_cell",
        "remember": "remember",
    }
    assert results["notebook_insert_cell"]["data"] == {
        "notebook": "book.ipynb",
        "inserted": {"id": "8a7363ff2d7d", "at": "end"},
    }
    assert links(results["notebook_insert_cell"]) == [
        {"kind": "cell", "path": "book.ipynb", "cellId": "8a7363ff2d7d"},
        {"kind": "file", "path": "book.ipynb"},
    ]
    assert links(results["memory_write"]) == [{"kind": "memory", "path": "memory/2026-11-25.md"}]
    assert links(results["remember"]) == [{"kind": "memory", "path": "memory/facts.jsonl", "fact": "f1"}]
    assert results["ask_user"]["data"] == {"answer": "b"}
    assert results["exec"]["failure"] == {"kind": "denied", "reason": "Denied: Not here"}
    # Nothing of it goes back to the disk.
    assert STORED.read_bytes() == before
    lines = [json.loads(line) for line in before.decode().splitlines()]
    assert [to_json(from_json(line)) for line in lines] == lines


def test_pending_call_in_stored_session_has_label():
    entries = read_session(STORED).entries
    read_now = list(display_entries(entries, entries))
    (waiting,) = [entry.meta["activities"] for entry in read_now if "activities" in entry.meta]
    (label,) = waiting.values()
    assert (label["action"], label["object"], label["objectKind"]) == ("run_command", "touch waits", "code")


@pytest.mark.parametrize(
    ("tool", "output", "key", "total", "cells"),
    [
        (
            "notebook_outline",
            "a.ipynb: 3 cells, kernel python3 (idle), not open\n1 a1 code [3] 2 lines: 1 2 code\n3 a3 md: # End",
            "cells",
            3,
            [(1, "a1"), (3, "a3")],
        ),
        (
            "notebook_read",
            "a.ipynb: 9 cells, kernel none (idle), not open\n\n--- cell 4 (code) id=a4 hash=12 run [3]\n1 2 code",
            "cells",
            9,
            [(4, "a4")],
        ),
        (
            "notebook_find",
            "cell 2 (a2) line 1: cell 9 (x) line 1\ncell 3 (a3) output, line 2: y",
            "cells",
            None,
            [(2, "a2"), (3, "a3")],
        ),
        (
            "notebook_run_all",
            "Ran 2 cells of a.ipynb.\n1 a1 [4] ok\n3 a3 error → text",
            "ran",
            None,
            [(1, "a1"), (3, "a3")],
        ),
        ("notebook_create", "Created a.ipynb with the cells a1, a2.", "cells", 2, [(1, "a1"), (2, "a2")]),
        (
            "notebook_create",
            "Created a.ipynb with code cell a1 (hash 12).\nRan cell a1 [1].\n3",
            "cells",
            1,
            [(1, "a1")],
        ),
        ("notebook_create", "Created a.ipynb, without cells yet.", "cells", 0, []),
    ],
)
def test_cells_in_result_are_known_by_number_and_id(tool, output, key, total, cells):
    data = read(tool, output, path="a.ipynb")["data"]
    assert data == {
        "notebook": "a.ipynb",
        **({"total": total} if total is not None else {}),
        key: told(*cells),
    }


def test_notebook_path_comes_from_result_else_from_call():
    head = "new.ipynb: 3 cells, kernel python3 (idle), not open"
    assert read("notebook_read", head, path="/srv/old.ipynb")["data"]["notebook"] == "new.ipynb"
    assert read("kernel_variables", "df", path="./b.ipynb")["data"]["notebook"] == "b.ipynb"
    assert read("notebook_run_cell", "Ran cell c1 [1].", path="RTC:b.ipynb")["data"]["notebook"] == "b.ipynb"
    assert "data" not in read("notebook_list", "b.ipynb", path="folder")
    assert "data" not in read("read", "{}", path="b.ipynb")


def test_inserted_cell_is_known_with_position():
    def place(**arguments):
        return read("notebook_insert_cell", INSERTED, path="a.ipynb", **arguments)["data"]["inserted"]

    assert place() == {"id": "c1", "at": "end"}
    assert place(atStart=True) == {"id": "c1", "at": "start"}
    assert place(afterCellId="c0") == {"id": "c1", "at": "after", "after": "c0"}
    for tool in ("notebook_move_cell", "notebook_delete_cell"):
        assert read(tool, "Done.", path="a.ipynb")["data"] == {"notebook": "a.ipynb", "moved": True}


def test_cell_id_in_result_wins_over_number_in_call():
    ran = read("notebook_run_cell", "Ran cell c-9 [1].\n2", path="a.ipynb", cellId="3")
    assert links(ran)[0] == {"kind": "cell", "path": "a.ipynb", "cellId": "c-9"}
    assert ran["data"]["ran"] == [{"id": "c-9", "status": "ok"}]
    both = read("notebook_insert_cell", f"{INSERTED}Ran cell c1 [1].\nnew", path="a.ipynb", run=True)
    assert both["label"]["action"] == "insert_and_run_cell"
    assert links(both)[0]["cellId"] == "c1"
    denied = read("notebook_edit_cell", "Denied.", "denied", path="a.ipynb", cellId="c1")
    assert links(denied) == [{"kind": "cell", "path": "a.ipynb", "cellId": "c1"}]
    assert "data" not in denied
    raised = read("notebook_run_cell", "Cell c1 [2] raised an error.\nNameError: x", "failed", path="a.ipynb")
    assert raised["data"] == {"notebook": "a.ipynb", "ran": [{"id": "c1", "status": "error"}]}
    for tool in ("exec", "notebook_run_all"):
        meta = read(tool, "Cell 5 (c1) raised an error; 2 ran before it.", "failed", path="a.ipynb")
        assert [link for link in links(meta) if link["kind"] == "cell"] == []


@pytest.mark.parametrize(
    ("output", "kind", "reason"),
    [
        ("notebook_run_cell failed (kernel_waits): The kernel waits.", "unavailable", "The kernel waits."),
        ("notebook_run_cell failed (no_cell): There is none.", "not_found", "There is none."),
        ("notebook_run_cell failed (invalid_arguments): `x` is missing.", "invalid", "`x` is missing."),
        ("exec failed (timeout): still running after 5 s", "timed_out", "still running after 5 s"),
        ("stdout:\nhalf\nstderr:\nwrong\nexit code 1", "failed", "half"),
        (f"{INSERTED}Cell c1 [1] raised an error.\nNameError: x", "failed", "Cell c1 [1] raised an error."),
        (
            f"{INSERTED}The cell stays; running it failed (no_kernel): It did not start.",
            "unavailable",
            "The cell stays; running it failed (no_kernel): It did not start.",
        ),
    ],
)
def test_failure_has_kind_and_one_line_reason(output, kind, reason):
    failure = read("notebook_insert_cell", output, "failed", path="a.ipynb", run=True)["failure"]
    assert failure == {"kind": kind, "reason": reason}


def test_file_link_exists_only_if_call_reached_the_file():
    assert links(read("read", "1\tx", path="src/a.py")) == [{"kind": "file", "path": "src/a.py"}]
    assert links(read("read", "read failed (tool_error): no", "failed", path="src/a.py")) == []
    assert links(read("read", "1\tx", path="/etc/hosts")) == []
    assert links(read("memory_get", "x", path="onyx:MEMORY.md", **{"from": 3, "lines": 2})) == [
        {"kind": "memory", "path": "MEMORY.md", "lines": [3, 4]},
        {"kind": "file", "path": "onyx:MEMORY.md"},
    ]


def test_repaired_call_has_label_of_its_repair():
    entry = Entry(
        "e",
        None,
        "",
        "tool",
        f"{INSERTED}(Taken as …)",
        tool_call_id="c",
        meta={
            "status": "ok",
            "takenAs": {"tool": "notebook_insert_cell", "arguments": {"path": "a.ipynb", "afterCellId": "c0"}},
        },
    )
    meta = with_current_form(entry, ToolCall("c", "insert_cell", {"notebook": "a.ipynb"})).meta
    assert meta["label"]["object"] == "a.ipynb"
    assert meta["data"]["inserted"] == {"id": "c1", "at": "after", "after": "c0"}


def test_current_and_unknown_results_are_unchanged():
    label = {"action": "run_command", "object": "ls"}
    entry = Entry("e", None, "", "tool", "Ran cell c1.", meta={"status": "ok", "label": label}, tool_call_id="c")
    assert with_current_form(entry, ToolCall("c", "notebook_run_cell", {"path": "a.ipynb"})) is entry
    plain = Entry("e", None, "", "tool", "Ran cell c1.", meta={"status": "ok"}, tool_call_id="c")
    assert with_current_form(plain, ToolCall("c", "acme_run", {"path": "a.ipynb"})) is plain


def test_forged_label_is_ignored():
    entry = Entry("e", None, "", "tool", "x", meta={"status": "ok", "label": "none", "takenAs": 7}, tool_call_id="c")
    assert with_current_form(entry, ToolCall("c", "exec", {"command": ["x"]})).meta["label"]["action"] == "run_command"


def test_tools_from_earlier_versions_have_equivalent_labels():
    now = {tool.name: tool.activity for tool in all_tools()}
    assert {name: ACTIVITIES.get(name) for name in now} == now
