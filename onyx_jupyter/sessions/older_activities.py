"""Labels for tools of earlier versions, by name: their transcripts contain only a name and arguments."""

from __future__ import annotations

from collections.abc import Mapping

from onyx_jupyter.activities import Activity

ACTIVITIES: Mapping[str, Activity] = {
    "exec": Activity("run_command", "command", "code"),
    "process": Activity(
        "list_jobs",
        "id",
        when=(
            ("action", "poll", "look_at_job"),
            ("action", "log", "look_at_job"),
            ("action", "write", "type_into_job"),
            ("action", "kill", "end_job"),
        ),
    ),
    "notebook_read": Activity("read_notebook", "path", "path", opens=("file",)),
    "notebook_outline": Activity("outline_notebook", "path", "path", opens=("file",)),
    "notebook_find": Activity("search_notebook", "pattern", "code", opens=("file",)),
    "notebook_list": Activity("list_notebooks", "path"),
    "notebook_create": Activity(
        "create_notebook", "path", "path", when=(("run", True, "create_and_run_notebook"),), opens=("file",)
    ),
    "notebook_insert_cell": Activity(
        "insert_cell", "path", "path", when=(("run", True, "insert_and_run_cell"),), opens=("file",)
    ),
    "notebook_edit_cell": Activity(
        "edit_cell", "path", "path", when=(("run", True, "edit_and_run_cell"),), opens=("file",)
    ),
    "notebook_delete_cell": Activity("delete_cells", "path", "path", counted="cellIds", opens=("file",)),
    "notebook_move_cell": Activity("move_cell", "path", "path", opens=("file",)),
    "notebook_run_cell": Activity("run_cell", "path", "path", opens=("file",)),
    "notebook_run_all": Activity("run_cells", "path", "path", opens=("file",)),
    "notebook_restart_kernel": Activity(
        "restart_kernel", "path", "path", when=(("runAll", True, "restart_and_run"),), opens=("file",)
    ),
    "kernel_variables": Activity("list_variables", "path", "path"),
    "kernel_inspect": Activity("inspect_variable", "name", "code"),
    "kernel_execute": Activity("run_code", "code", "code"),
    "read": Activity("read_file", "path", "path", opens=("file",)),
    "write": Activity("write_file", "path", "path", opens=("file",)),
    "edit": Activity("edit_file", "path", "path", opens=("file",)),
    "list": Activity("list_folder", "path", "path", otherwise="/"),
    "search": Activity("search_files", "pattern", "code"),
    "web_search": Activity("search_web", "query"),
    "web_fetch": Activity("read_page", "url", "address"),
    "http_fetch": Activity("send_request", "method url", "address"),
    "ask_user": Activity("ask_person", "question"),
    "plan_update": Activity("plan"),
    "more_tools": Activity("look_up_tool", "tool"),
    "memory_search": Activity("search_memory", "query"),
    "memory_get": Activity("read_memory", "path", "path", opens=("memory", "file")),
    "memory_write": Activity("write_memory"),
    "memory_history": Activity(
        "list_versions", "path", "path", when=(("action", "restore", "restore_version"),), opens=("memory",)
    ),
    "remember": Activity("remember", "fact"),
    "forget": Activity("forget", "pattern"),
    "knowledge_search": Activity("search_documents", "query"),
    "knowledge_add": Activity("add_document", "path url", "address"),
    "sessions_list": Activity("list_sessions", "query"),
    "sessions_search": Activity("search_sessions", "query"),
    "sessions_history": Activity("read_session"),
    "sessions_send": Activity("write_to_session"),
    "skill_read": Activity("read_skill", "name"),
}
