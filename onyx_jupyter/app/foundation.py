"""What all features build on: configuration, event streams, the audit, sessions on disk, embeddings."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from onyx_jupyter.agents.config_watch import ConfigWatch
from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.agents.default_config import make_home
from onyx_jupyter.agents.embeddings import ConfiguredEmbeddings
from onyx_jupyter.agents.tool_files import ToolFiles
from onyx_jupyter.agents.toolsets import AgentToolsets
from onyx_jupyter.errors import StorageError
from onyx_jupyter.features.skills.skill_service import SKILLS
from onyx_jupyter.index_process.process import IndexProcess
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.feature import Built, Components, Feature
from onyx_jupyter.operations.keys import (
    AUDIT,
    AUDIT_LOG,
    CHANGED_SESSION,
    CONFIGURED,
    CONTRIBUTIONS,
    CREDENTIALS,
    EMBEDDINGS,
    HOST,
    INDEX_PROCESS,
    JOURNAL,
    MODEL_CALLS,
    OPENED_SESSION,
    REREAD_CONFIG,
    SESSIONS,
    STREAMS,
    TIME_ZONE,
    TOOLSETS,
)
from onyx_jupyter.operations.signal import Signal
from onyx_jupyter.runs.audit_trail import AuditTrail
from onyx_jupyter.runs.journal import TranscriptJournal
from onyx_jupyter.runs.streams import SessionStreams
from onyx_jupyter.schedule.job_fields import local_zone
from onyx_jupyter.security.audit import AuditLog
from onyx_jupyter.security.credential_store import CredentialStore
from onyx_jupyter.security.master_key import MasterKeys
from onyx_jupyter.sessions.store import SessionStore
from onyx_jupyter.sessions.transcript import SessionTranscript
from onyx_jupyter.skills.skill import Listed
from onyx_jupyter.toolsets.toolset import Toolset
from onyx_jupyter.usage.model_call import ModelCall


def make(parts: Parts) -> Built:
    host, contributions = parts.get(HOST), parts.get(CONTRIBUTIONS)

    def all_toolsets() -> Sequence[Toolset]:
        ours = contributions.toolsets() if host.toolsets is None else host.toolsets
        return [*ours, *host.installed_toolsets]

    async def files_of_tools(agent_id: str) -> Sequence[Listed]:
        skills = parts.find(SKILLS)
        return await skills.library.tool_files(agent_id) if skills else ()

    toolsets = AgentToolsets(all_toolsets, ToolFiles(files_of_tools).toolsets)
    credentials = CredentialStore(host.home.credentials_file, MasterKeys(host.home.credentials_key_file))
    called = Signal[ModelCall]()
    reread = Signal[None]()
    configured = Configured(
        host.home,
        host.server_root,
        host.templates,
        host.environment,
        host.models_opener(),
        toolsets.known,
        host.secrets,
        host.on_settings,
        host.ceiling,
        contributions.settings,
        credentials.read,
        host.clock,
        called.notify,
        reread.notify,
        lambda: (parts.find(TIME_ZONE) or local_zone)(),
    )
    config_watch = ConfigWatch(configured, host.clock)
    streams = SessionStreams(configured.redact_data)
    sessions = SessionStore(host.home.sessions, host.clock, host.ids, lambda: configured.secrets)
    audit_log = AuditLog(host.home.audit_file, host.clock)
    audit = AuditTrail(audit_log, configured.redact_data)
    index_process = IndexProcess(
        host.home.index, host.clock, lambda: configured.settings.config.local.idle_timeout_ms / 1000
    )
    own_embeddings = ConfiguredEmbeddings(configured, configured.redact, host.clock, index_process)
    embeddings = host.embeddings or own_embeddings
    index_process.answer_with(embeddings)

    async def start() -> None:
        await asyncio.to_thread(make_home, host.home)
        await configured.read()

    async def close() -> None:
        await config_watch.close()
        await own_embeddings.close()
        await index_process.close()
        await configured.close()

    async def health() -> Components:
        return await _audit_component(audit_log, host.home.audit_file)

    return Built(
        {
            CONFIGURED: configured,
            CREDENTIALS: credentials,
            MODEL_CALLS: called,
            REREAD_CONFIG: reread,
            STREAMS: streams,
            SESSIONS: sessions,
            OPENED_SESSION: Signal[str](),
            CHANGED_SESSION: Signal[SessionTranscript](),
            TOOLSETS: toolsets,
            AUDIT_LOG: audit_log,
            AUDIT: audit,
            JOURNAL: TranscriptJournal(sessions, streams, audit),
            EMBEDDINGS: embeddings,
            INDEX_PROCESS: index_process,
        },
        start=start,
        warm=config_watch.start,
        close=close,
        health=health,
    )


async def _audit_component(audit_log: AuditLog, path: Path) -> Components:
    """Whether the audit file is still as it was written."""
    try:
        verified = await audit_log.check()
    except StorageError as error:
        return {"audit": {"ok": False, "message": str(error)} | ({"hint": error.hint} if error.hint else {})}
    if verified.broken is None:
        message = f"{path.name}: {verified.entries} entries, unchanged."
        return {"audit": {"ok": True, "message": message}}
    where = f"{path.name}, line {verified.broken.line}: {verified.broken.reason}."
    hint = f"Keep a copy of it. To start a new one, stop the server and move {path.stem}.* out of {path.parent}."
    return {"audit": {"ok": False, "message": where, "hint": hint}}


FOUNDATION = Feature(
    "foundation",
    make,
    requires=(HOST, CONTRIBUTIONS),
    provides=(
        CONFIGURED,
        CREDENTIALS,
        MODEL_CALLS,
        REREAD_CONFIG,
        STREAMS,
        SESSIONS,
        OPENED_SESSION,
        CHANGED_SESSION,
        TOOLSETS,
        AUDIT_LOG,
        AUDIT,
        JOURNAL,
        EMBEDDINGS,
        INDEX_PROCESS,
    ),
    essential=True,
)
