"""The tools that come with Onyx, one file a family; `all_tools` is the one list."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.tools.builtin.ask_user import AskUserTool
from onyx_jupyter.tools.builtin.exec import ExecTool
from onyx_jupyter.tools.builtin.facts import ForgetTool, RememberTool
from onyx_jupyter.tools.builtin.file_changes import EditTool, WriteTool
from onyx_jupyter.tools.builtin.files import ListTool, ReadTool
from onyx_jupyter.tools.builtin.kernel import KernelExecuteTool, KernelInspectTool, KernelVariablesTool
from onyx_jupyter.tools.builtin.knowledge import KnowledgeAddTool, KnowledgeSearchTool
from onyx_jupyter.tools.builtin.memory import MemoryGetTool, MemorySearchTool, MemoryWriteTool
from onyx_jupyter.tools.builtin.memory_history import MemoryHistoryTool
from onyx_jupyter.tools.builtin.notebook import (
    NotebookFindTool,
    NotebookListTool,
    NotebookOutlineTool,
    NotebookReadTool,
)
from onyx_jupyter.tools.builtin.notebook_changes import (
    NotebookDeleteCellTool,
    NotebookEditCellTool,
    NotebookInsertCellTool,
    NotebookMoveCellTool,
)
from onyx_jupyter.tools.builtin.notebook_create import NotebookCreateTool
from onyx_jupyter.tools.builtin.notebook_runs import (
    NotebookRestartKernelTool,
    NotebookRunAllTool,
    NotebookRunCellTool,
)
from onyx_jupyter.tools.builtin.plan import PlanUpdateTool
from onyx_jupyter.tools.builtin.process import ProcessTool
from onyx_jupyter.tools.builtin.search import SearchTool
from onyx_jupyter.tools.builtin.sessions import (
    SessionsHistoryTool,
    SessionsListTool,
    SessionsSearchTool,
    SessionsSendTool,
)
from onyx_jupyter.tools.builtin.web import HttpFetchTool, WebFetchTool, WebSearchTool
from onyx_jupyter.tools.spec import Tool


def all_tools() -> list[Tool[Any]]:
    """Every built-in tool, in the order in which a model is told of them."""
    return [
        NotebookOutlineTool(),
        NotebookReadTool(),
        NotebookInsertCellTool(),
        NotebookEditCellTool(),
        NotebookRunCellTool(),
        NotebookListTool(),
        NotebookFindTool(),
        NotebookCreateTool(),
        NotebookDeleteCellTool(),
        NotebookMoveCellTool(),
        NotebookRunAllTool(),
        NotebookRestartKernelTool(),
        KernelVariablesTool(),
        KernelInspectTool(),
        KernelExecuteTool(),
        ReadTool(),
        WriteTool(),
        EditTool(),
        ListTool(),
        SearchTool(),
        ExecTool(),
        ProcessTool(),
        MemorySearchTool(),
        MemoryGetTool(),
        MemoryWriteTool(),
        MemoryHistoryTool(),
        RememberTool(),
        ForgetTool(),
        AskUserTool(),
        PlanUpdateTool(),
        WebSearchTool(),
        WebFetchTool(),
        HttpFetchTool(),
        KnowledgeSearchTool(),
        KnowledgeAddTool(),
        SessionsListTool(),
        SessionsSearchTool(),
        SessionsHistoryTool(),
        SessionsSendTool(),
    ]
