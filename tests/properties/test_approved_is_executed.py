"""What runs or is written can be derived from the approval, whatever secrets and marks it contains."""

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from onyx_jupyter.features.files.edit_tools import edit_tool, write_tool
from onyx_jupyter.features.notebooks.edit_tools import notebook_edit_cell_tool, notebook_insert_cell_tool
from onyx_jupyter.features.notebooks.kernel_tools import kernel_execute_tool
from onyx_jupyter.features.notebooks.run_tools import notebook_run_cell_tool
from onyx_jupyter.features.processes.exec_tool import make_exec_tool
from onyx_jupyter.magics.cell_user import approval_text
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.protocols import CellRun
from onyx_jupyter.testing.script import Call
from onyx_jupyter.toolsets.tool import Tool
from tests.notebook.shelf import Shelf, code
from tests.runs.house import House
from tests.security.secret_samples import MIXED, PEM, SECRETS
from tests.skills.notebooks import cell, write_notebook
from tests.waiting import until

EVIL = "import os; os.system('id')"
PIECES = st.one_of(
    st.sampled_from([text for text, _ in SECRETS.values()]),
    st.sampled_from(
        [
            f"-----BEGIN PRIVATE KEY-----\n{EVIL}\n-----END PRIVATE KEY-----",
            f"k = '''-----BEGIN RSA PRIVATE KEY-----\nMIIE'''; {EVIL}\n'''-----END RSA PRIVATE KEY-----'''",
            f"DB_PASSWORD=Winter-2031x&{EVIL}&",
            "[redacted:private-key]",
            "⟨U+202E⟩",
            "```\n",
            "# %% markdown\n",
            "x = 1\n",
            "Привет é 👩\u200d💻",
            "p\u0430ypal",
        ]
    ),
    st.text(st.sampled_from("ab =\n\n\r\t\\`⟨⟩\u202e\u2066\u200b\u00a0\u2028\x0b\x1b\U000e0041#-+@ "), max_size=8),
)
TEXTS = st.lists(PIECES, min_size=1, max_size=5).map("".join)
NOTEBOOKS = ("notebook_insert_cell", "notebook_edit_cell", "notebook_run_cell", "kernel_execute")
AND_RUN = ("notebook_insert_cell and run", "notebook_edit_cell and run")
TOOLS = st.sampled_from(["exec", "write", "write over", "edit", *NOTEBOOKS, *AND_RUN, "skill"])
_MARK = re.compile("⟨U\\+([0-9A-F]+)(?:×([0-9]+))?⟩")


@given(tool=TOOLS, text=TEXTS, other=TEXTS)
@example(tool="notebook_run_cell", text=f"-----BEGIN PRIVATE KEY-----\n{EVIL}\n-----END PRIVATE KEY-----", other="")
@example(tool="notebook_insert_cell and run", text=f"-----BEGIN PRIVATE KEY-----\n{EVIL}", other="")
@example(tool="notebook_edit_cell and run", text="⟨U+202E⟩\u202e\r\n```", other="a")
@example(tool="skill", text=f"x\n\n# %% markdown\n{EVIL}", other=PEM)
@example(tool="write over", text="a\r\nb\nc", other="a\nb\r\nc")
@example(tool="write over", text="a", other="")
@example(tool="edit", text="a\n", other="b\r\nc\n\nd")
def test_running_bytes_are_in_approval_request(tmp_path_factory, tool, text, other):
    """Approvals: the card holds exactly what runs, and no other place holds its secrets."""
    play = Play(tmp_path_factory.mktemp("house"), tool, text, other)
    asyncio.run(play.all())
    if play.card is None:
        assert play.did == play.before
        return
    assert from_details(tool, play.card["details"], play.old) == play.did
    assert play.leaked == []
    if "secret" in play.card["details"].get("cautions", ()):
        assert play.card["details"]["alwaysScope"] is None


@given(tool=TOOLS, text=TEXTS, other=TEXTS)
@example(tool="notebook_run_cell", text=f"-----BEGIN PRIVATE KEY-----\n{EVIL}\n-----END PRIVATE KEY-----", other="")
@example(tool="notebook_edit_cell", text="⟨U+202E⟩\u202e\r\n```", other="a\n```python\n")
def test_running_bytes_are_in_text_prompt_of_cell(tmp_path_factory, tool, text, other):
    """Approvals: so does the text above `input()`, where marks stand for what cannot be seen."""
    play = Play(tmp_path_factory.mktemp("house"), tool, text, other)
    asyncio.run(play.all())
    if play.card is None:
        assert play.did == play.before
        return
    shown = approval_text(play.card)
    assert not re.search("[\u202e\u2066\u200b\u2028\x0b\x1b\r\U000e0041]", shown)
    assert from_details(tool, {**play.card["details"], **read_back(shown)}, play.old) == play.did


def read_back(shown: str) -> dict[str, Any]:
    """The fenced texts of the question by their name, each mark as the characters that it names."""
    found = re.finditer(r"^(\w+)(?: \d+)?:\n\n(`{3,})\w*\n(.*?)\n\2$", shown, re.MULTILINE | re.DOTALL)
    texts = {
        name: _MARK.sub(lambda mark: chr(int(mark[1], 16)) * int(mark[2] or 1), text)
        for name, _, text in (match.groups() for match in found)
    }
    if "diff" in texts and "@@" not in texts["diff"].split("\n")[0]:
        texts["newSource"] = "\n".join(line[1:] for line in texts["diff"].split("\n") if line[:1] in ("+", " "))
    return texts


def from_details(tool: str, details: dict[str, Any], old: str) -> Any:
    """What the details say that will run, or stand in the file."""
    match tool:
        case "exec":
            return [details["command"]]
        case "notebook_insert_cell" | "notebook_run_cell":
            return [details["source"]]
        case "notebook_insert_cell and run":
            assert details["run"] in (True, "true")
            return [details["source"]] * 2
        case "notebook_edit_cell and run":
            assert details["run"] in (True, "true")
            return [details["newSource"]] * 2
        case "notebook_edit_cell":
            return [details["newSource"]]
        case "kernel_execute":
            return [details["code"]]
        case "skill":
            return cells_of(details["source"])
        case _:
            return details["content"] if "content" in details else patched(old, details)


def cells_of(text: str) -> list[tuple[str, str]]:
    """The cells of a skill's text: kind and source, without blanks at its end."""
    signs = re.search("^# (%%+)", text, re.MULTILINE)
    assert signs is not None
    head = re.compile(rf"^# {signs[1]}(?!%)( \w+)?(?: \[.*\])?\n", re.MULTILINE)
    found = list(head.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)]
    return [
        ((match[1] or " code")[1:], text[match.end() : end].rstrip()) for match, end in zip(found, ends, strict=True)
    ]


def patched(old: str, details: dict[str, Any]) -> str:
    """The diff applied to the text that it was made for."""
    ends = details.get("lineEnds", "")
    exact = mixed(old) or "mixed" in ends
    lines = (old if exact else old.replace("\r\n", "\n")).split("\n")
    lines, at, made, has_end = lines[:-1] if not lines[-1] else lines, 0, [], old.endswith("\n") or not old
    for line in details["diff"].split("\n"):
        if head := re.match(r"@@ -(\d+)(?:,(\d+))? ", line):
            start = int(head[1]) - (0 if head[2] == "0" else 1)
            made, at = [*made, *lines[at:start]], start
        elif line.startswith("\\"):
            has_end = "gets a line end" in line
        elif line[:1] == "+":
            made.append(line[1:])
        elif line:
            assert lines[at] == line[1:]
            made, at = [*made, *(lines[at : at + 1] if line[0] == " " else [])], at + 1
    made += lines[at:]
    crlf = "become CRLF" in ends or ends == "CRLF line ends" or ("become" not in ends and "\r\n" in old)
    sign = "\r\n" if crlf and not exact else "\n"
    return sign.join(made) + (sign if has_end and made else "")


def mixed(text: str) -> bool:
    return 0 < text.count("\r\n") < text.count("\n")


class Play:
    """One call of a model, approved by its person. `did` is what ran or stands there now; `card` what was shown.

    `text` is what the call gives, or what the notebook or skill holds; `other` what was there before.
    """

    def __init__(self, folder: Path, tool: str, text: str, other: str) -> None:
        self.tool, self.text, self.other = tool, text, other
        self.ran: list[str] = []
        self.shelf = RecordingShelf(self.ran, a=[code("one", text if tool == "notebook_run_cell" else other)])
        tools = [recording_exec(self.ran), write_tool, edit_tool, notebook_insert_cell_tool, notebook_edit_cell_tool]
        self.old = self._old()
        self.house = House(
            folder,
            [[self._call()], "Done"],
            notebooks=self.shelf,
            kernels=RecordingKernels(self.ran),
            more_tools=[*tools, notebook_run_cell_tool, kernel_execute_tool],
        )
        self.file = self.house.root / "a.txt"
        if tool in ("write over", "edit"):
            self.file.write_bytes(self.old.encode())
        if tool == "skill":
            path = write_notebook(
                self.house.home.root / "skills" / "tidy.ipynb", cell(text), cell(other, kind="markdown")
            )
            self.sources = [("code", text.rstrip()), ("markdown", other.rstrip())]
            assert path.exists()
        self.before = self._did()
        self.card: dict[str, Any] | None = None
        self.leaked: list[str] = []

    async def all(self) -> None:
        key = await self.house.session()
        run_id = await self.house.send(key)
        await until(lambda: self.house.onyx.approvals.pending() or self.house.ends(run_id))
        if self.house.onyx.approvals.pending():
            (pending,) = self.house.onyx.approvals.pending()
            self.card = self.house.of("exec.approval_request")[0]
            assert self.card["details"] == json.loads(json.dumps(pending.request.details))
            if self.tool == "skill":  # its kernel would take seconds: trust is bound to the hash of what is shown
                await self.house.deny()
            else:
                await self.house.approve()
        await self.house.end(run_id)
        self.did = self.sources if self.tool == "skill" and self.card else self._did()
        self.leaked = self._leaks()
        await self.house.close()

    def _call(self) -> Call:
        match self.tool:
            case "exec":
                return Call("exec", {"command": self.text})
            case "write" | "write over":
                return Call("write", {"path": "a.txt", "content": self.text})
            case "edit":
                return Call("edit", {"path": "a.txt", "oldText": "HERE", "newText": self.text})
            case "notebook_insert_cell":
                return Call(self.tool, {"path": "a.ipynb", "cellType": "code", "source": self.text})
            case "notebook_edit_cell":
                return Call(self.tool, {"path": "a.ipynb", "cellId": "one", "source": self.text})
            case "notebook_insert_cell and run":
                arguments = {"path": "a.ipynb", "cellType": "code", "source": self.text, "run": True}
                return Call("notebook_insert_cell", arguments)
            case "notebook_edit_cell and run":
                return Call(
                    "notebook_edit_cell", {"path": "a.ipynb", "cellId": "one", "source": self.text, "run": True}
                )
            case "notebook_run_cell":
                return Call(self.tool, {"path": "a.ipynb", "cellId": "one"})
            case "skill":
                return Call("more_tools", {"tool": "skill_tidy", "arguments": {}})
        return Call("kernel_execute", {"path": "a.ipynb", "code": self.text})

    def _old(self) -> str:
        return f"{self.other}HERE{self.other}" if self.tool == "edit" else self.other

    def _did(self) -> Any:
        match self.tool:
            case "write" | "write over" | "edit":
                return self.file.read_bytes().decode() if self.file.exists() else None
            case "notebook_insert_cell":
                return [one["source"] for one in self.shelf.notebooks["a.ipynb"][1:]]
            case "notebook_edit_cell":
                return [one["source"] for one in self.shelf.notebooks["a.ipynb"]]
            case "notebook_insert_cell and run":  # what stands there, and what ran
                return [*(one["source"] for one in self.shelf.notebooks["a.ipynb"][1:]), *self.ran]
            case "notebook_edit_cell and run":
                return [*(one["source"] for one in self.shelf.notebooks["a.ipynb"]), *self.ran]
        return list(self.ran)

    def _leaks(self) -> list[str]:
        """The secrets that any other place got to know, of those that the filter knows where they stand."""
        paths = [*self.house.home.sessions.rglob("*"), self.house.home.audit_file, self.house.home.grants_file]
        files = "".join(path.read_text("utf-8") for path in paths if path.is_file())
        events = json.dumps([event for event in self.house.events if event[0] != "exec.approval_request"])
        seen = files + events + repr(self.house.model.requests)
        unknown = json.dumps(self.house.onyx.configured.redact_data([self.card, self.text, self.other]))
        return [one for one in (MIXED, "Winter-2031x", "MIIEowIBAAKC") if one in seen and one not in unknown]


class RecordingShelf(Shelf):
    """Notes the sources that run."""

    def __init__(self, ran: list[str], **notebooks: Any) -> None:
        super().__init__(**notebooks)
        self._ran = ran

    def run_by_hand(self, path: str, cell_id: str) -> None:
        self._ran.append(self.cell(path, cell_id)["source"])


def recording_exec(ran: list[str]) -> Tool[Any]:
    """Notes the command, and runs none."""

    async def call(arguments: Any, context: Any) -> ToolResult:
        ran.append(arguments.command)
        return ToolResult("ran")

    return replace(make_exec_tool(), call=call)


class RecordingKernels:
    """Notes the code that runs beside the cells."""

    def __init__(self, ran: list[str]) -> None:
        self._ran = ran

    async def execute(self, path: str, code: str, progress: Any) -> CellRun:
        self._ran.append(code)
        return CellRun("ok", 1, ())

    async def executed(self, path: str) -> dict[int, str]:
        return {}
