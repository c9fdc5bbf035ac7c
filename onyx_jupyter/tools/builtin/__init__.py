"""The tools that come with Onyx, one file a family; `all_tools` is the one list."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.tools.builtin.ask_user import ask_user_tool
from onyx_jupyter.tools.builtin.exec import make_exec_tool
from onyx_jupyter.tools.builtin.facts import forget_tool, make_remember_tool
from onyx_jupyter.tools.builtin.file_changes import edit_tool, write_tool
from onyx_jupyter.tools.builtin.files import list_tool, read_tool
from onyx_jupyter.tools.builtin.kernel import kernel_execute_tool, kernel_inspect_tool, kernel_variables_tool
from onyx_jupyter.tools.builtin.knowledge import knowledge_add_tool, knowledge_search_tool
from onyx_jupyter.tools.builtin.memory import memory_get_tool, memory_search_tool, memory_write_tool
from onyx_jupyter.tools.builtin.memory_history import memory_history_tool
from onyx_jupyter.tools.builtin.notebook import (
    notebook_find_tool,
    notebook_list_tool,
    notebook_outline_tool,
    notebook_read_tool,
)
from onyx_jupyter.tools.builtin.notebook_changes import (
    notebook_delete_cell_tool,
    notebook_edit_cell_tool,
    notebook_insert_cell_tool,
    notebook_move_cell_tool,
)
from onyx_jupyter.tools.builtin.notebook_create import notebook_create_tool
from onyx_jupyter.tools.builtin.notebook_runs import (
    notebook_restart_kernel_tool,
    notebook_run_all_tool,
    notebook_run_cell_tool,
)
from onyx_jupyter.tools.builtin.plan import plan_update_tool
from onyx_jupyter.tools.builtin.process import process_tool
from onyx_jupyter.tools.builtin.search import search_tool
from onyx_jupyter.tools.builtin.sessions import (
    sessions_history_tool,
    sessions_list_tool,
    sessions_search_tool,
    sessions_send_tool,
)
from onyx_jupyter.tools.builtin.web import http_fetch_tool, web_fetch_tool, web_search_tool
from onyx_jupyter.tools.spec import Tool


def all_tools() -> list[Tool[Any]]:
    """Every built-in tool, in the order in which a model is told of them."""
    return [
        notebook_outline_tool,
        notebook_read_tool,
        notebook_insert_cell_tool,
        notebook_edit_cell_tool,
        notebook_run_cell_tool,
        notebook_list_tool,
        notebook_find_tool,
        notebook_create_tool,
        notebook_delete_cell_tool,
        notebook_move_cell_tool,
        notebook_run_all_tool,
        notebook_restart_kernel_tool,
        kernel_variables_tool,
        kernel_inspect_tool,
        kernel_execute_tool,
        read_tool,
        write_tool,
        edit_tool,
        list_tool,
        search_tool,
        make_exec_tool(),
        process_tool,
        memory_search_tool,
        memory_get_tool,
        memory_write_tool,
        memory_history_tool,
        make_remember_tool(),
        forget_tool,
        ask_user_tool,
        plan_update_tool,
        web_search_tool,
        web_fetch_tool,
        http_fetch_tool,
        knowledge_search_tool,
        knowledge_add_tool,
        sessions_list_tool,
        sessions_search_tool,
        sessions_history_tool,
        sessions_send_tool,
    ]
