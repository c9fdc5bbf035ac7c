"""What tools do, in words: one table for every screen, by the key in a tool's label.

`onyx_jupyter.server.action_words_ts` writes the front end's copy, which is translated there. In front of its object, a
verb makes one line: `Ran` and `ls -la`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """While it runs, and when it is done; `many` is the same for several, with `%1` for their number."""

    doing: str
    done: str
    many: tuple[str, str] | None = None


ACTIONS: Mapping[str, Words] = {
    "run_command": Words("Run", "Ran"),
    "list_jobs": Words("List background jobs", "Listed background jobs"),
    "look_at_job": Words("Check the background job", "Checked the background job"),
    "type_into_job": Words("Send input to the background job", "Sent input to the background job"),
    "end_job": Words("Stop the background job", "Stopped the background job"),
    "read_notebook": Words("Read", "Read"),
    "outline_notebook": Words("Look through", "Looked through"),
    "search_notebook": Words("Search for", "Searched for"),
    "list_notebooks": Words("List notebooks", "Listed notebooks"),
    "create_notebook": Words("Create", "Created"),
    "create_and_run_notebook": Words("Create and run", "Created and ran"),
    "insert_cell": Words("Insert a cell into", "Inserted a cell into"),
    "insert_and_run_cell": Words("Insert and run a cell in", "Inserted and ran a cell in"),
    "edit_cell": Words("Edit a cell of", "Edited a cell of"),
    "edit_and_run_cell": Words("Edit and run a cell of", "Edited and ran a cell of"),
    "delete_cells": Words("Delete a cell of", "Deleted a cell of", many=("Delete %1 cells of", "Deleted %1 cells of")),
    "move_cell": Words("Move a cell of", "Moved a cell of"),
    "run_cell": Words("Run a cell of", "Ran a cell of"),
    "run_cells": Words("Run the cells of", "Ran the cells of"),
    "restart_kernel": Words("Restart the kernel of", "Restarted the kernel of"),
    "restart_and_run": Words("Restart and run", "Restarted and ran"),
    "list_variables": Words("Inspect the variables of", "Inspected the variables of"),
    "inspect_variable": Words("Look at", "Looked at"),
    "run_code": Words("Run", "Ran"),
    "read_file": Words("Read", "Read"),
    "write_file": Words("Write", "Wrote"),
    "edit_file": Words("Edit", "Edited"),
    "list_folder": Words("List", "Listed"),
    "search_files": Words("Search for", "Searched for"),
    "search_web": Words("Search the web for", "Searched the web for"),
    "read_page": Words("Read the page", "Read the page"),
    "send_request": Words("Request", "Requested"),
    "use_tool": Words("Use", "Used"),
    "ask_person": Words("Ask", "Asked"),
    "plan": Words("Plan", "Planned"),
    "look_up_tool": Words("Look up the tool", "Looked up the tool"),
    "search_memory": Words("Search memory for", "Searched memory for"),
    "read_memory": Words("Read", "Read"),
    "write_memory": Words("Write to memory", "Wrote to memory"),
    "list_versions": Words("View versions of", "Viewed versions of"),
    "restore_version": Words("Restore a version of", "Restored a version of"),
    "remember": Words("Remember:", "Remembered:"),
    "forget": Words("Forget facts with", "Forgot facts with"),
    "search_documents": Words("Search documents for", "Searched documents for"),
    "add_document": Words("Add to the documents", "Added to the documents"),
    "list_sessions": Words("List sessions", "Listed sessions"),
    "search_sessions": Words("Search sessions for", "Searched sessions for"),
    "read_session": Words("Read another session", "Read another session"),
    "write_to_session": Words("Send to another session", "Sent to another session"),
    "schedule_job": Words("Schedule", "Scheduled"),
    "list_scheduled_jobs": Words("List scheduled jobs", "Listed scheduled jobs"),
    "update_job": Words("Change the job", "Changed the job"),
    "cancel_job": Words("Cancel the job", "Cancelled the job"),
    "read_skill": Words("Read the skill", "Read the skill"),
    "run_skill": Words("Run the skill", "Ran the skill"),
}


def verb_of(action: str, count: int | None, *, is_over: bool) -> str | None:
    """The verb in English; None for a key that is not in the table."""
    words = ACTIONS.get(action)
    if words is None:
        return None
    doing, done = words.many if words.many and count not in (None, 1) else (words.doing, words.done)
    return (done if is_over else doing).replace("%1", str(count))
