"""`schedule` in onyx.json."""

from __future__ import annotations

from pydantic import Field, field_validator

from onyx_jupyter.config.schema import Section
from onyx_jupyter.schedule.cron import check_zone
from onyx_jupyter.schedule.job_fields import local_zone


class ScheduleSettings(Section):
    """Scheduled jobs."""

    main_session: str | None = Field(
        default=None,
        description="sessionKey of the conversation where jobs of the main session run; default: the agent's most "
        "recently used one",
    )
    tz: str | None = Field(
        default=None,
        description="your time zone, such as Europe/Vienna: of new jobs that name none, and of the days of the "
        "budget; default: the server's",
    )

    @field_validator("tz")
    @classmethod
    def _is_known(cls, name: str | None) -> str | None:
        if name is not None:
            check_zone(name)
        return name

    @property
    def zone(self) -> str:
        """The zone of jobs that name none."""
        return self.tz or local_zone()
