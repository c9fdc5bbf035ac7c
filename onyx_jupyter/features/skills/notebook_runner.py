"""Runs a skill's notebook: papermill injects the parameters, nbclient runs the cells. It writes no file."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import hashlib
import importlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

MAX_CELL_BYTES = 5_000_000
MAX_NOTEBOOK_BYTES = 20_000_000
MAX_HASHED_BYTES = 200_000_000
VERSIONS_S = 5.0
LINE_CHARS = 200
LABEL_CHARS = 60
SECOND_LINE = "# This line keeps IPython from taking the one above for a magic."
LEFT_OUT = "[Too much output: the rest was left out.]\n"
_PARAMETERS = frozenset({"parameters", "injected-parameters"})
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")

Report = Callable[[dict[str, Any]], None]


class CellFailed(Exception):
    """A cell raised an error; the message names the cell and the error."""


class SkillNotebook:
    """One notebook and its kernel. `report` receives each cell and its newest line of output."""

    def __init__(self, job: Mapping[str, Any], report: Report) -> None:
        self._job = job
        self._report = report
        self._nb: Any = job["notebook"]
        self._manager: Any = None
        self._progress: dict[str, Any] = {}
        self._has_new_output = False

    async def run(self, found_out: Callable[[dict[str, Any]], None]) -> None:
        """Runs every cell in order. Raises: CellFailed, or any error that keeps the kernel from running."""
        await self._start_kernel()
        hashing = asyncio.create_task(asyncio.to_thread(input_hash, self._job))
        await asyncio.to_thread(self._inject_parameters)
        client = notebook_client(self)
        await client.async_start_new_kernel_client()
        found_out({"inputHash": await hashing, "versions": await self._versions(client)})
        cells = [index for index, cell in enumerate(self._nb.cells) if _runs(cell)]
        for number, index in enumerate(cells, start=1):
            cell = self._nb.cells[index]
            self.report_output()
            self._progress = {"index": number, "total": len(cells), "cell": self._label(index), "line": ""}
            self._report(self._progress)
            await self._run_cell(client, cell, index)

    def text(self, run: dict[str, Any]) -> str:
        """The notebook as file content, with the facts about the run in its metadata."""
        metadata = self._nb["metadata"]
        metadata["onyx"] = {**(metadata.get("onyx") or {}), "run": run}
        return json.dumps(self._nb, ensure_ascii=False, indent=1) + "\n"

    def kill(self) -> None:
        """Kills the kernel at once."""
        provisioner = getattr(self._manager, "provisioner", None)
        process = getattr(provisioner, "process", None)
        with contextlib.suppress(OSError):
            if process is not None:
                process.kill()

    def put_out(self, line: str) -> None:
        """Stores the newest line of output for `report_output`."""
        self._progress["line"], self._has_new_output = line, True

    def report_output(self) -> None:
        """Reports the newest line of output, if it was not reported yet."""
        if self._has_new_output:
            self._has_new_output = False
            self._report({**self._progress, "output": True})

    async def _start_kernel(self) -> None:
        from jupyter_client.manager import AsyncKernelManager

        self._manager = AsyncKernelManager(kernel_name=self._job["kernel"])
        await self._manager.start_kernel(cwd=self._job["cwd"])

    @property
    def manager(self) -> Any:
        """The kernel's manager, once it has been started."""
        return self._manager

    @property
    def notebook(self) -> Any:
        """The nbformat node, once the parameters are injected."""
        return self._nb

    def _inject_parameters(self) -> None:
        """Injects the parameters. Also imports nbclient, while the kernel starts."""
        import nbclient  # noqa: F401
        from papermill.parameterize import parameterize_notebook

        nb = _nbformat().reads(json.dumps(self._nb), as_version=4)  # joins the lines of sources
        if self._job["language"] == "python":
            _escape_magic(nb)
        given = self._job["parameters"]
        if given:
            had = nb.metadata.setdefault("papermill", {})
            for cell in nb.cells:
                cell.metadata.setdefault("tags", [])  # papermill expects them
            nb = parameterize_notebook(
                nb, given, comment="Given for this run", kernel_name=self._job["kernel"], language=self._job["language"]
            )
            nb.metadata.pop("papermill") if not had else None
            injected = next(cell for cell in nb.cells if "injected-parameters" in cell.metadata.get("tags", ()))
            injected.source = "\n".join([injected.source.rstrip(), *self._job["pathLines"]])
        self._nb = nb

    async def _run_cell(self, client: Any, cell: Any, index: int) -> None:
        from nbclient.exceptions import CellExecutionError, DeadKernelError

        try:
            await client.async_execute_cell(cell, index)
        except CellExecutionError as error:
            what = f"{error.ename}: {error.evalue}"[:1000]
            raise CellFailed(f"Cell {self._progress['index']} ({self._progress['cell']}): {what}") from error
        except DeadKernelError as error:
            raise CellFailed(
                f"The kernel died in cell {self._progress['index']} ({self._progress['cell']}); it may have run out "
                f"of memory."
            ) from error

    async def _versions(self, client: Any) -> dict[str, str]:
        """Versions of the kernel's language and of the required packages, as installed in the kernel."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(VERSIONS_S):
                info = await client.async_wait_for_reply(client.kc.kernel_info())
                language = info["content"]["language_info"]
                versions = {str(language["name"]): str(language["version"])}
                if language["name"] == "python" and self._job["packages"]:
                    versions |= await self._package_versions(client)
                return versions
        return {}

    async def _package_versions(self, client: Any) -> dict[str, str]:
        package_query = (
            "[(n, d.version) for n in {!r} for d in __import__('importlib.metadata').metadata.distributions(name=n)]"
        )
        message = client.kc.execute(
            "",
            silent=True,
            store_history=False,
            user_expressions={"found": package_query.format(self._job["packages"])},
        )
        reply = await client.async_wait_for_reply(message)
        text = reply["content"]["user_expressions"]["found"]["data"]["text/plain"]
        return {str(name): str(version) for name, version in ast.literal_eval(text)}

    def _label(self, index: int) -> str:
        """A readable name for the cell: the heading above it, else its first line."""
        if _PARAMETERS.intersection(self._nb.cells[index].metadata.get("tags", ())):
            return "Parameters"
        for cell in reversed(self._nb.cells[:index]):
            if _runs(cell) and not _PARAMETERS.intersection(cell.metadata.get("tags", ())):
                break
            headings = _HEADING.findall(cell.source) if cell.cell_type == "markdown" else []
            if headings:
                return _cut(headings[-1], LABEL_CHARS)
        lines = [line.strip() for line in self._nb.cells[index].source.splitlines() if line.strip()]
        return _cut(lines[0].lstrip("# "), LABEL_CHARS)


def _escape_magic(nb: Any) -> None:
    """Adds a second line: IPython takes a one-line cell such as `time: int = 5` for the magic of that name."""
    for cell in nb.cells:
        if "parameters" in cell.metadata.get("tags", ()) and len(cell.source.strip().splitlines()) == 1:
            cell.source = f"{cell.source.rstrip()}\n{SECOND_LINE}"


def input_hash(job: Mapping[str, Any]) -> str:
    """The SHA-256 of the skill's version, the parameters and the content of the files they name."""
    files = {name: _file_hash(Path(job["cwd"]) / path) for name, path in job["paths"].items()}
    what = {"skill": job["run"]["skillHash"], "parameters": job["parameters"], "files": files}
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def _file_hash(path: Path) -> list[Any] | None:
    """The file's hash; for a very large file its size and modification time."""
    try:
        status = path.stat()
        if not path.is_file() or status.st_size > MAX_HASHED_BYTES:
            return [status.st_size, status.st_mtime_ns]
        with path.open("rb") as file:
            return [hashlib.file_digest(file, "sha256").hexdigest()]
    except OSError:
        return None


def notebook_client(notebook: SkillNotebook) -> Any:
    """An nbclient client that limits the size of outputs and reports them."""
    from nbclient import NotebookClient

    class Client(NotebookClient):
        """Defined here, because importing nbclient is slow."""

        _kept: dict[int, int]

        def output(self, outs: Any, msg: Any, display_id: Any, cell_index: int) -> Any:
            content = msg["content"]
            if self.clear_before_next_output and not self.output_hook_stack[msg["parent_header"].get("msg_id")]:
                outs[:] = []
                self.clear_display_id_mapping(cell_index)
                self.clear_before_next_output, self._kept[cell_index] = False, 0
            if not self._grows({cell_index: _size(content)}):
                self._leave_out(outs)
                return None
            line = _last_line(content)
            if line:
                notebook.put_out(line)
            return super().output(outs, msg, display_id, cell_index)

        def clear_output(self, outs: Any, msg: Any, cell_index: int) -> None:
            super().clear_output(outs, msg, cell_index)
            if not outs:
                self._kept[cell_index] = 0

        def _update_display_id(self, display_id: str, msg: Any) -> None:
            growth: dict[int, int] = {}
            for index, places in self._display_id_map.get(display_id, {}).items():
                outs = self.nb["cells"][index]["outputs"]
                # Streams are merged when a cell ends, so an index may point to another output.
                places[:] = [place for place in places if place < len(outs) and "data" in outs[place]]
                growth[index] = sum(_size(msg["content"]) - _size(outs[place]) for place in places)
            if self._grows(growth):
                super()._update_display_id(display_id, msg)
                return
            for index in growth:
                self._leave_out(self.nb["cells"][index]["outputs"])

        def _grows(self, growth: Mapping[int, int]) -> bool:
            """Whether this growth (or shrinkage) per cell fits the limits; if so, it is counted."""
            kept = self._kept | {index: self._kept.get(index, 0) + size for index, size in growth.items()}
            larger = [index for index, size in growth.items() if size > 0]
            if larger and (
                max(kept[index] for index in larger) > MAX_CELL_BYTES or sum(kept.values()) > MAX_NOTEBOOK_BYTES
            ):
                return False
            self._kept = kept
            return True

        def _leave_out(self, outs: Any) -> None:
            if not (outs and outs[-1].get("text", "").endswith(LEFT_OUT)):
                outs.append(_node({"output_type": "stream", "name": "stderr", "text": LEFT_OUT}))

    client = Client(notebook.notebook, km=notebook.manager, timeout=None, coalesce_streams=True)
    client._kept = {}
    client.reset_execution_trackers()
    return client


def _size(content: Mapping[str, Any]) -> int:
    """The size of a message's content or of an output."""
    return len(content["text"]) if "text" in content else len(json.dumps(content))


def _node(output: dict[str, Any]) -> Any:
    return _nbformat().from_dict(output)


def _nbformat() -> Any:
    """Imported dynamically, because nbformat has no types."""
    return importlib.import_module("nbformat")


def _runs(cell: Any) -> bool:
    return cell.cell_type == "code" and bool(cell.source.strip())


def _last_line(content: Mapping[str, Any]) -> str:
    text = content.get("text") or (content.get("data") or {}).get("text/plain") or ""
    lines = [line for line in re.split(r"[\r\n]+", _ANSI.sub("", str(text)[-4000:])) if line.strip()]
    return _cut(lines[-1].strip(), LINE_CHARS) if lines else ""


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
