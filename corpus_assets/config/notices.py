"""The section `notices` of `corpus.yaml`: who is told how a build ended."""

import re
from typing import Any, Literal

from pydantic import Field, model_validator

from corpus_assets.config.section import Section

Event = Literal["failed", "check_failed", "ended"]
VARIABLE = "env:"
_NAMED = re.compile(rf"{VARIABLE}[A-Za-z_][A-Za-z0-9_]*")


class Notice(Section):
    """A command or a web address that is told how a build ended."""

    on: list[Event] = Field(
        default=["failed", "check_failed"],
        min_length=1,
        description="`failed`: a partition failed, a gate is closed, or the build ended with an error; `check_failed`: "
        "a check is red; `ended`: the build is over, however it went",
    )
    command: list[str] | None = Field(
        None,
        min_length=1,
        description="program and arguments, without a shell, in the folder of corpus.yaml; it reads the notice as JSON "
        "on standard input",
    )
    webhook: str | None = Field(
        None,
        description="`env:NAME`: the environment variable that holds an address of http or https, which gets the "
        "notice as JSON by POST; the address itself may not be given",
    )
    timeout: float = Field(
        10, gt=0, le=300, description="seconds after which a command is ended, and a server given up"
    )

    @model_validator(mode="before")
    @classmethod
    def _names_a_variable(cls, values: Any) -> Any:
        """Refuses an address without showing it."""
        webhook = values.get("webhook") if isinstance(values, dict) else None
        if isinstance(webhook, str) and not _NAMED.fullmatch(webhook):
            raise ValueError(
                "webhook: received what is not shown, since the address of a webhook is a secret; valid: env:NAME, the "
                "environment variable that holds it"
            )
        return values

    @model_validator(mode="after")
    def _tells_one(self) -> "Notice":
        if (self.command is None) == (self.webhook is None):
            raise ValueError("one of command and webhook is needed, and not both")
        return self

    @property
    def variable(self) -> str | None:
        """The name of the environment variable with the address; None for a command."""
        return None if self.webhook is None else self.webhook.removeprefix(VARIABLE)

    @property
    def words(self) -> str:
        """Whom it tells, without secrets: `command notify`, `webhook env:HOOK`."""
        return f"webhook {self.webhook}" if self.command is None else f"command {self.command[0]}"
