"""A result's label is built from the call's arguments and stays within its limits."""

import json

from onyx_jupyter.action_words import ACTIONS, verb_of
from onyx_jupyter.activities import OBJECT_CHARS, Activity
from onyx_jupyter.messages import Link
from onyx_jupyter.result_data import MAX_CELLS, MAX_CHARS, bounded, cells_shown


def test_notebook_of_ten_thousand_cells_stays_within_limits():
    data = cells_shown("a.ipynb", ((number, f"{number:064x}") for number in range(1, 10_001)), 10_000)
    assert (len(data["cells"]), data["total"]) == (MAX_CELLS, 10_000)
    assert bounded(data) is data
    assert len(json.dumps(data)) <= MAX_CHARS


def test_oversized_or_non_json_data_is_left_out():
    assert bounded({"text": "x" * MAX_CHARS}) is None
    assert bounded({"what": object()}) is None
    assert bounded(None) is None


def test_label_object_comes_from_arguments():
    activity = Activity("edit_cell", "path", "path", when=(("run", True, "edit_and_run_cell"),), opens=("file",))
    given = {"path": "a.ipynb", "cellId": "c1", "run": True}
    assert activity.label(given).action == "edit_and_run_cell"
    assert activity.label(given).links == (Link("cell", "a.ipynb", "c1"),)
    assert activity.label(given, is_done=True).links == (Link("cell", "a.ipynb", "c1"), Link("file", "a.ipynb"))
    assert activity.label({**given, "run": False}).action == "edit_cell"
    assert activity.label({"path": ["odd"], "cellId": 3}, is_done=True).links == ()
    assert Activity("delete_cells", counted="cellIds").label({"cellIds": ["a", "b", "a"]}).count == 2


def test_label_object_is_one_bounded_line():
    long = Activity("run_command", "command", "code").label({"command": "\n\n  ls\nrm x"})
    assert long.object == "ls"
    assert len(Activity("search_web", "query").label({"query": "word " * 10_000}).object) == OBJECT_CHARS
    assert Activity("list_folder", "path", "path", otherwise="/").label({}).object == "/"
    assert Activity("send_request", "method url", "address").label({"method": "PUT", "url": "u"}).object == "PUT u"


def test_every_action_has_its_words():
    assert all(words.doing and words.done for words in ACTIONS.values())
    assert verb_of("delete_cells", 3, is_over=True) == "Deleted 3 cells of"
    assert verb_of("delete_cells", 1, is_over=False) == "Delete a cell of"
    assert verb_of("nothing of the kind", None, is_over=True) is None
