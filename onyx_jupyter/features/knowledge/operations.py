"""`knowledge.*`: the documents that the user has added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from onyx_jupyter.features.knowledge.documents import KNOWLEDGE, item_data
from onyx_jupyter.features.knowledge.wire import (
    KnowledgeAddParams,
    KnowledgeItemInfo,
    KnowledgeItemParams,
    KnowledgeList,
    KnowledgePassageInfo,
    KnowledgeRefreshParams,
    KnowledgeResults,
    KnowledgeSearchParams,
)
from onyx_jupyter.ingest.copies import MAX_UPLOAD_BYTES
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import CONFIGURED
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams, Ok
from onyx_jupyter.protocols import KnowledgeItem


async def add(params: KnowledgeAddParams, caller: Caller) -> dict[str, Any]:
    where = params.url or params.path or ""
    item = await caller.get(KNOWLEDGE).documents.add(where, params.agent_id, is_url=params.url is not None)
    return _to_json(item, caller)


async def list_items(params: NoParams, caller: Caller) -> dict[str, Any]:
    caller.get(KNOWLEDGE).documents.scan()  # resumes what a previous server did not finish reading
    return _listed(await caller.get(KNOWLEDGE).documents.items(), caller)


async def refresh(params: KnowledgeRefreshParams, caller: Caller) -> dict[str, Any]:
    return _listed(await caller.get(KNOWLEDGE).documents.refresh(params.item_id), caller)


async def stop(params: KnowledgeItemParams, caller: Caller) -> dict[str, Any]:
    return _to_json(await caller.get(KNOWLEDGE).documents.stop(params.item_id), caller)


async def remove(params: KnowledgeItemParams, caller: Caller) -> dict[str, Any]:
    await caller.get(KNOWLEDGE).documents.remove(params.item_id)
    return {"ok": True}


async def restore(params: KnowledgeItemParams, caller: Caller) -> dict[str, Any]:
    return _to_json(await caller.get(KNOWLEDGE).documents.restore(params.item_id), caller)


async def search(params: KnowledgeSearchParams, caller: Caller) -> dict[str, Any]:
    answer = await caller.get(KNOWLEDGE).documents.search(
        params.query, limit=params.limit, paths=params.paths, agent_id=params.agent_id
    )
    found = [KnowledgePassageInfo(**asdict(passage)) for passage in answer.passages]
    results = KnowledgeResults(results=found, note=answer.note)
    return dict(caller.get(CONFIGURED).redact_data(results.model_dump(by_alias=True, exclude_none=True)))


def _listed(items: Sequence[KnowledgeItem], caller: Caller) -> dict[str, Any]:
    found = {"items": [item_data(item) for item in items]}
    return {**caller.get(CONFIGURED).redact_data(found), "maxUploadBytes": MAX_UPLOAD_BYTES}


def _to_json(item: KnowledgeItem, caller: Caller) -> dict[str, Any]:
    return dict(caller.get(CONFIGURED).redact_data(item_data(item)))


OPERATIONS = (
    Operation("knowledge.add", KnowledgeAddParams, KnowledgeItemInfo, add, "admin"),
    Operation("knowledge.list", NoParams, KnowledgeList, list_items, "read"),
    Operation("knowledge.refresh", KnowledgeRefreshParams, KnowledgeList, refresh, "admin"),
    Operation("knowledge.stop", KnowledgeItemParams, KnowledgeItemInfo, stop, "admin"),
    Operation("knowledge.remove", KnowledgeItemParams, Ok, remove, "admin"),
    Operation("knowledge.restore", KnowledgeItemParams, KnowledgeItemInfo, restore, "admin"),
    Operation("knowledge.search", KnowledgeSearchParams, KnowledgeResults, search, "read"),
)
