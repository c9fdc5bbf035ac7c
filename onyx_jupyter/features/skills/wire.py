"""Skills on the socket: listing, trusting and running them, and creating one from a notebook."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from onyx_jupyter.events import SkillAnswer
from onyx_jupyter.operations.wire import Wire

MAX_NAME = 64


class SkillsListParams(Wire):
    agent_id: str | None = None


class SkillField(Wire):
    """One parameter, in the order of the cell. `path` is a text that names a file; `union` and `any` take any JSON."""

    name: str
    type: Literal["integer", "number", "string", "boolean", "array", "object", "choice", "path", "union", "any"]
    required: bool
    nullable: bool = False
    item_type: str | None = Field(default=None, description="type of a list's items or an object's values")
    choices: list[str | int | bool] | None = None
    has_default: bool = False
    default: Any = None
    default_text: str = Field(
        default="", description="as written in the cell, even if the value is known only when it runs"
    )
    description: str = ""


class SkillParameters(Wire):
    """`freeForm` says why the parameters are not known; every name and JSON value can be given then."""

    json_schema: dict[str, Any]
    fields: list[SkillField]
    free_form: str | None = None


class SkillRequires(Wire):
    """Programs, environment variables and Python packages."""

    bins: list[str]
    env: list[str]
    python: list[str]


class SkillInfo(Wire):
    """`reason` says why it is not ready. `path` is what the file browser opens; None where it cannot."""

    id: str = Field(description="id of this file; a shadowed skill shares its name with another")
    name: str
    kind: Literal["notebook", "text", "tool"] = Field(description="a tool is a Python file with tools for agents")
    description: str
    source: Literal["project", "workspace", "home", "packaged"]
    path: str | None = None
    location: str = Field(description="the file's full path, for display")
    state: Literal["ready", "untrusted", "missing", "broken", "shadowed"]
    reason: str | None = None
    trusted: bool
    changed: bool = Field(description="an earlier version was trusted")
    hash: str = Field(description="identifies this version, for `skills.trust`")
    tool: str | None = Field(default=None, description="the agent's tool that runs it")
    kernel: str | None = None
    requires: SkillRequires
    parameters: SkillParameters | None = None
    files: list[str] = Field(default_factory=list, description="next to SKILL.md")


class SkillList(Wire):
    skills: list[SkillInfo]
    left_out: int = Field(default=0, description="how many more are not listed")


class SkillParams(Wire):
    """`id` picks the very file where a shadowed or broken one is meant."""

    name: str = Field(max_length=MAX_NAME)
    agent_id: str | None = None
    id: str | None = None


class SkillDetail(Wire):
    """`diff` (unified) leads from the version that was trusted last to this one; None where there is no former one."""

    skill: SkillInfo
    text: str = Field(description="everything that runs or instructs, which would be trusted")
    instructions: str = Field(description="Markdown: the SKILL.md's body, or the notebook's Markdown cells")
    diff: str | None = None


class SkillsTrustParams(SkillParams):
    hash: str = Field(description="hash of the version shown; refused if it has changed since")


class SkillTrusted(Wire):
    skill: SkillInfo


class SkillsRunParams(Wire):
    """`path` is a notebook or folder in the file browser, in whose folder it runs; the server's root where absent."""

    name: str = Field(max_length=MAX_NAME)
    parameters: dict[str, Any] = Field(default_factory=dict)
    path: str | None = None
    agent_id: str | None = None


class SkillRunStarted(Wire):
    run_id: str


class SkillRunParams(Wire):
    run_id: str


class SkillsRunsParams(Wire):
    name: str | None = None
    limit: int = Field(default=50, ge=1, le=500)


class SkillProgress(Wire):
    """`index` of `total` code cells, from 1; `cell` is its heading or first line, `line` its last line of output."""

    index: int
    total: int
    cell: str
    line: str = ""


class SkillRunInfo(Wire):
    """One run, under way or over. `stopped` by a person, `interrupted` with the server."""

    run_id: str
    skill: str
    status: Literal["running", "ok", "failed", "stopped", "timeout", "interrupted"]
    parameters: dict[str, Any]
    started_at: str
    finished_at: str | None = None
    by: str = Field(description="the person, or `agent:` and the agent's id")
    error: str | None = None
    progress: SkillProgress | None = None
    copy_path: str | None = Field(default=None, description="path of the executed notebook, as JupyterLab opens it")
    copy_location: str = Field(description="the executed notebook's full path; `skills.copy` returns its content")
    hash: str
    kernel: str | None = None
    versions: dict[str, str] = Field(
        default_factory=dict, description="versions of Python and of the required packages"
    )


class SkillRunList(Wire):
    runs: list[SkillRunInfo]


class SkillResult(Wire):
    """`outputs` are nbformat 4 outputs of the cells tagged `result`, else of the last cell that has any."""

    run: SkillRunInfo
    outputs: list[dict[str, Any]]
    text: str = Field(description="the same as the agent gets it")


class SkillCopy(Wire):
    """The executed notebook, nbformat 4."""

    run: SkillRunInfo
    notebook: dict[str, Any]


class SkillsProposeParams(Wire):
    path: str


class SkillProposal(Wire):
    """What *Save as skill* begins with; `parameters` is the source of a parameters cell, `problem` why it is empty."""

    name: str
    description: str
    parameters: str
    fields: list[SkillField]
    kernel: str | None = None
    problem: str | None = None


class SkillsSaveParams(Wire):
    """`parameters` is the parameters cell's source, empty for none. An existing skill is replaced with `overwrite`."""

    path: str
    name: str = Field(max_length=MAX_NAME)
    description: str = Field(max_length=1024)
    parameters: str = ""
    place: Literal["workspace", "home", "project"] = "workspace"
    overwrite: bool = False
    agent_id: str | None = None


class SkillsUpdatedData(Wire):
    """Skills came, went, changed or are trusted: ask for the list again."""


class SkillRunProgressData(SkillProgress):
    run_id: str
    skill: str


class SkillsAskParams(Wire):
    """From the connection of the cell that waits: the question ends with it."""

    name: str = Field(max_length=MAX_NAME)
    agent_id: str | None = None


class SkillAsked(Wire):
    """`skills.question_closed` says how it ended, and may come before this."""

    question_id: str


class SkillQuestionParams(Wire):
    question_id: str = Field(max_length=100)


class SkillQuestion(Wire):
    """Nothing more where it is over, or never was. `detail` is the skill as it is on disk now."""

    open: bool
    expires_at: str | None = None
    detail: SkillDetail | None = None


class SkillsAnswerParams(SkillQuestionParams):
    hash: str | None = Field(default=None, description="hash of the version shown, to trust it; omitted: declined")


class SkillQuestionClosedData(Wire):
    """`reason` says why a skill is `unusable`."""

    question_id: str
    outcome: SkillAnswer
    reason: str | None = None
