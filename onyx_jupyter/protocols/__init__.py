"""The interfaces between Onyx's parts, one topic a file: whoever needs a part depends on its shape here.

It never holds behaviour.
"""

from onyx_jupyter.protocols.approvals import (
    ApprovalAnswer,
    Approver,
)
from onyx_jupyter.protocols.kernels import (
    Inspection,
    InspectionTable,
    Kernels,
    KernelVariables,
    Variable,
    VariableKind,
)
from onyx_jupyter.protocols.memory import (
    BootstrapFile,
    Memory,
)
from onyx_jupyter.protocols.models import (
    Model,
    ModelDone,
    ModelEvent,
    ModelInfo,
    ModelNote,
    ModelProgress,
    ModelRequest,
    Models,
    TextDelta,
)
from onyx_jupyter.protocols.notebooks import (
    After,
    AppliedChange,
    Cell,
    CellChange,
    CellRun,
    CellType,
    DeleteCell,
    EditCell,
    InsertCell,
    MoveCell,
    NbCell,
    Notebooks,
    NotebookView,
    Place,
    RestoreCell,
    SetOutputs,
)
from onyx_jupyter.protocols.sessions import (
    Block,
    Compaction,
    Measured,
    OtherSession,
    Said,
    Sessions,
    Transcript,
)
from onyx_jupyter.protocols.tools import (
    Exactly,
    ToolPreview,
    UserAnswer,
    UserQuestion,
)

__all__ = [
    "After",
    "AppliedChange",
    "ApprovalAnswer",
    "Approver",
    "Block",
    "BootstrapFile",
    "Cell",
    "CellChange",
    "CellRun",
    "CellType",
    "Compaction",
    "DeleteCell",
    "EditCell",
    "Exactly",
    "InsertCell",
    "Inspection",
    "InspectionTable",
    "KernelVariables",
    "Kernels",
    "Measured",
    "Memory",
    "Model",
    "ModelDone",
    "ModelEvent",
    "ModelInfo",
    "ModelNote",
    "ModelProgress",
    "ModelRequest",
    "Models",
    "MoveCell",
    "NbCell",
    "NotebookView",
    "Notebooks",
    "OtherSession",
    "Place",
    "RestoreCell",
    "Said",
    "Sessions",
    "SetOutputs",
    "TextDelta",
    "ToolPreview",
    "Transcript",
    "UserAnswer",
    "UserQuestion",
    "Variable",
    "VariableKind",
]
