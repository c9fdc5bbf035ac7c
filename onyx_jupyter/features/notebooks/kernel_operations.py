"""`kernel.*`: the contents of a notebook's kernel."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.events import camel_data
from onyx_jupyter.features.notebooks.kernel_wire import KernelVariableList, KernelVariablesParams
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import CONFIGURED, HOST
from onyx_jupyter.operations.operation import Operation


async def variables(params: KernelVariablesParams, caller: Caller) -> dict[str, Any]:
    kernels = caller.get(HOST).kernels
    if kernels is None:
        return {"state": "no_kernel", "message": "This server does not run kernels.", "variables": []}
    try:
        found = await kernels.variables(params.path, params.pattern, functions=True, most=params.limit)
    except NotebookError as error:  # a notebook without a kernel is normal when names are completed
        return {"state": error.code, "message": caller.get(CONFIGURED).redact(str(error)), "variables": []}
    variables = caller.get(CONFIGURED).redact_data([camel_data(variable) for variable in found.variables])
    return {"state": "ok", "variables": variables, "leftOut": sum(found.left_out.values())}


OPERATIONS = (
    Operation("kernel.variables", KernelVariablesParams, KernelVariableList, variables, "read", dispatch="beside"),
)
