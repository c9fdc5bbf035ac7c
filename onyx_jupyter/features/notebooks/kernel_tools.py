"""The tools that inspect a notebook's kernel and run scratch code in it, without touching any cell."""

from __future__ import annotations

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import OnyxError, ToolError
from onyx_jupyter.features.notebooks.cell_commands import with_commands
from onyx_jupyter.features.notebooks.notebook_access import api_path, grant, name_of, notebook_preview, path_to_run
from onyx_jupyter.features.notebooks.notebook_call_repair import repair
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.notebook.kernel_text import inspection_text, variables_text
from onyx_jupyter.notebook.outputs import render_outputs
from onyx_jupyter.protocols import Kernels, ToolPreview
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import tool

VARIABLES_CHARS = 8_000
INSPECT_CHARS = 8_000
OUTPUT_CHARS = 12_000
_SHARE = 0.9
_PATH = "The notebook's path, as in the file browser."


class KernelVariablesArguments(Arguments):
    path: str = Field(min_length=1, description=_PATH)
    pattern: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Only names that contain this, or match it with * and ?.",
    )
    functions: bool = Field(default=False, description="Also functions, classes and modules.")


@tool(
    name="kernel_variables",
    repair=repair,
    activity=Activity("list_variables", "path", "path"),
    arguments=KernelVariablesArguments,
    description=(
        "Lists the variables in a notebook's running kernel: name, type, shape, columns, size. It runs no cell and "
        "changes nothing, and works while a cell runs."
    ),
    risk="read",
    family="kernel",
    deferred=True,
    at_a_glance="{path}: a notebook's live variables",
)
async def kernel_variables_tool(arguments: KernelVariablesArguments, context: ToolContext) -> ToolResult:
    """Lists the user's variables, even while a cell runs."""
    path = api_path(arguments.path, context)
    found = await _kernels(context).variables(path, arguments.pattern, functions=arguments.functions)
    text, truncated = variables_text(found, path, _most_chars(VARIABLES_CHARS, context))
    return ToolResult(text, truncated=truncated, external=f"the kernel of {path}", data={"notebook": path})


class KernelInspectArguments(Arguments):
    path: str = Field(min_length=1, description=_PATH)
    name: str = Field(
        min_length=1, max_length=500, description='A variable, or something in it: model.coef_, data["key"], rows[0].'
    )


@tool(
    name="kernel_inspect",
    repair=repair,
    activity=Activity("inspect_variable", "name", "code"),
    arguments=KernelInspectArguments,
    description=(
        "Describes one variable of a notebook's running kernel: a frame's schema, nulls, statistics and first rows; an "
        "array's shape and range; entries of containers; fields of objects; signature and docstring of functions. It "
        "follows attributes and constant keys, and runs no code: properties of the user's own classes are not read."
    ),
    risk="read",
    family="kernel",
    deferred=True,
    at_a_glance="{path, name}: schema, nulls, statistics, head of one",
)
async def kernel_inspect_tool(arguments: KernelInspectArguments, context: ToolContext) -> ToolResult:
    """Describes one variable; for a data frame: schema, nulls, statistics and first rows."""
    path = api_path(arguments.path, context)
    found = await _kernels(context).inspect(path, arguments.name)
    text, truncated = inspection_text(found, arguments.name, _most_chars(INSPECT_CHARS, context))
    return ToolResult(text, truncated=truncated, external=f"the kernel of {path}", data={"notebook": path})


class KernelExecuteArguments(Arguments):
    path: str = Field(min_length=1, description=_PATH)
    code: str = Field(min_length=1, max_length=100_000)


async def _execute_preview(arguments: KernelExecuteArguments, context: ToolContext) -> ToolPreview:
    path = await path_to_run(arguments.path, context)
    _kernels(context)
    preview = notebook_preview(
        path,
        f"Run code in the kernel of {name_of(path)}",
        {"code": arguments.code},
        grant=grant("kernel_execute", path),
        grant_text=f"all code that is run in the kernel of {name_of(path)} without a cell",
    )
    return await with_commands(preview, [arguments.code], await _kernel_name(path, context))


@tool(
    name="kernel_execute",
    repair=repair,
    activity=Activity("run_code", "code", "code"),
    arguments=KernelExecuteArguments,
    description=(
        "Runs code in a notebook's running kernel without a cell, for a quick look or a calculation. It can read and "
        "change the variables. What the user should keep belongs in a cell."
    ),
    risk="execute",
    family="kernel",
    deferred=True,
    untimed=True,
    preview=_execute_preview,
)
async def kernel_execute_tool(arguments: KernelExecuteArguments, context: ToolContext) -> ToolResult:
    """Runs code in a notebook's kernel outside its cells, without a time limit."""
    path = await path_to_run(arguments.path, context)
    run = await _kernels(context).execute(path, arguments.code, context.progress)
    shown = render_outputs(run.outputs, min(OUTPUT_CHARS, context.max_output_bytes))
    head = "" if shown.text else "(no output)"
    note = f"\n{run.note}" if run.note else ""
    return ToolResult(
        head + shown.text + note,
        ok=run.status == "ok",
        attachments=shown.attachments,
        truncated=shown.truncated,
        external=f"the kernel of {path}",
        own_head=head,
        data={"notebook": path},
    )


async def _kernel_name(path: str, context: ToolContext) -> str | None:
    """None if it is unknown; the code is then read as IPython's."""
    try:
        return (await context.notebooks.read_cells(path, ())).kernel_name
    except OnyxError:
        return None


def _kernels(context: ToolContext) -> Kernels:
    if context.kernels is None:
        raise ToolError("No kernel can be reached from here.")
    return context.kernels


def _most_chars(wanted: int, context: ToolContext) -> int:
    return min(wanted, int(context.max_result_chars * _SHARE), context.max_output_bytes)
