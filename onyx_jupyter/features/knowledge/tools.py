"""The tools that search the user's documents and add one. They never change a document."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import InvalidArguments, ToolError
from onyx_jupyter.messages import Risk, ToolResult
from onyx_jupyter.protocols import Knowledge, KnowledgeItem, KnowledgePassage, ToolPreview
from onyx_jupyter.security.address_guard import AddressGuard
from onyx_jupyter.security.credential_files import holds_credentials, why_asked
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import tool, whole_call

MAX_RESULTS = 20
_SHOWN_PROBLEMS = 20
_SHARE = 0.8  # of a result's limit; JSON overhead needs the rest
_SHORTEST_PASSAGE = 300
_SUMMARY_CHARS = 70


class KnowledgeSearchArguments(Arguments):
    query: str = Field(min_length=1, max_length=1000, pattern=r"\S", description="What to look for, in words.")
    limit: int | None = Field(default=None, ge=1, le=MAX_RESULTS, description="Maximum number of passages.")
    paths: list[str] | None = Field(
        default=None,
        min_length=1,
        max_length=20,
        description="Only these files, folders or addresses, and all below them.",
    )


@tool(
    name="knowledge_search",
    activity=Activity("search_documents", "query"),
    arguments=KnowledgeSearchArguments,
    description=(
        "Searches the documents that the user added (PDFs, pages, notebooks, tables, code) by words and meaning. JSON: "
        "passages with path, lines, page or cell, heading, score and text. Cite path and page."
    ),
    risk="read",
    family="knowledge",
    deferred=True,
    at_a_glance="{query}: the user's documents",
)
async def knowledge_search_tool(arguments: KnowledgeSearchArguments, context: ToolContext) -> ToolResult:
    """Finds passages by words and by meaning; their text counts as external."""
    knowledge = _knowledge(context)
    answer = await knowledge.search(
        arguments.query, limit=arguments.limit, paths=arguments.paths, agent_id=context.agent_id
    )
    most_chars = max(
        _SHORTEST_PASSAGE,
        int(context.max_result_chars * _SHARE) // max(1, len(answer.passages)) - _SHORTEST_PASSAGE,
    )
    found = [_passage(passage, most_chars) for passage in answer.passages]
    note = answer.note
    if not found and note is None:
        note = "Nothing was found. Try other words, or add the document with knowledge_add."
    result = {"results": found, **({"note": note} if note else {})}
    return ToolResult(json.dumps(result, ensure_ascii=False), external="the user's documents")


class KnowledgeAddArguments(Arguments):
    path: str | None = Field(default=None, min_length=1, max_length=4096, description="A file or folder.")
    url: str | None = Field(default=None, min_length=1, max_length=8000, description="Or a page, with https://.")


async def _add_preview(arguments: KnowledgeAddArguments, context: ToolContext) -> ToolPreview:
    given = _where(arguments)
    where = _plain_url(given, context) if arguments.url else str(context.paths.resolve(given))
    preview = whole_call("knowledge_add", arguments)
    shown = where if len(where) <= _SUMMARY_CHARS else f"…{where[-_SUMMARY_CHARS:]}"
    details = {**preview.details, ("url" if arguments.url else "path"): where}
    must_ask = "it adds a page to what every conversation may find" if arguments.url else ""
    if arguments.url is None and holds_credentials(given, Path(where)):
        must_ask = why_asked(where)
    return replace(preview, summary=f"Add {shown} to what Onyx finds", details=details, must_ask=must_ask)


def _add_risk(arguments: KnowledgeAddArguments) -> Risk:
    return "network" if arguments.url is not None else "write"


@tool(
    name="knowledge_add",
    activity=Activity("add_document", "path url", "address"),
    arguments=KnowledgeAddArguments,
    description="Reads a file, a folder or a web page and adds it to the documents that knowledge_search finds.",
    risk="write",
    family="knowledge",
    deferred=True,
    untimed=True,
    preview=_add_preview,
    risk_of=_add_risk,
)
async def knowledge_add_tool(arguments: KnowledgeAddArguments, context: ToolContext) -> ToolResult:
    """Adds a document permanently. Every conversation can find it afterwards, so the user must approve.

    If reading it takes longer than a tool may run, it continues in the background.
    """
    knowledge = _knowledge(context)
    where = _where(arguments)
    item = await knowledge.add(where, context.agent_id, is_url=arguments.url is not None)
    latest = [item]

    def follow(now: KnowledgeItem) -> None:
        latest.append(now)
        context.progress(_progress(now))

    try:
        async with asyncio.timeout(context.timeout_s):
            item = await knowledge.finished(item.item_id, follow)
    except TimeoutError:
        note = "It is still being read in the background; what has been read can already be found."
        return ToolResult(json.dumps({**_item(latest[-1]), "note": note}, ensure_ascii=False))
    failed = item.state == "failed" or item.chunks == 0
    return ToolResult(json.dumps(_item(item), ensure_ascii=False), ok=not failed)


def _knowledge(context: ToolContext) -> Knowledge:
    if context.knowledge is None:
        raise ToolError("Documents cannot be searched here.")
    return context.knowledge


def _where(arguments: KnowledgeAddArguments) -> str:
    if (arguments.path is None) == (arguments.url is None):
        raise InvalidArguments("knowledge_add takes either `path` or `url`.")
    return arguments.url or arguments.path or ""


def _plain_url(url: str, context: ToolContext) -> str:
    return AddressGuard(context.web.allow_private).parse(url).url


def _passage(passage: KnowledgePassage, most_chars: int) -> dict[str, Any]:
    text = passage.text if len(passage.text) <= most_chars else passage.snippet[:most_chars]
    parts = {
        "path": passage.path,
        "title": passage.title,
        "startLine": passage.start_line,
        "endLine": passage.end_line,
        "page": passage.page,
        "cell": passage.cell,
        "cellId": passage.cell_id,
        "heading": passage.heading,
        "score": passage.score,
        "snippet": text,
    }
    return {name: value for name, value in parts.items() if value not in (None, "")}


def _progress(item: KnowledgeItem) -> str:
    return f"{item.done} of {item.total} files, {item.chunks} passages"


def _item(item: KnowledgeItem) -> dict[str, Any]:
    problems = [{"path": one.path, "message": one.message} for one in item.problems[:_SHOWN_PROBLEMS]]
    left = len(item.problems) - len(problems)
    return {
        "path": item.path,
        "files": item.total,
        "passages": item.chunks,
        **({"problem": item.problem} if item.problem else {}),
        **({"problems": problems} if problems else {}),
        **({"moreProblems": left} if left else {}),
    }
