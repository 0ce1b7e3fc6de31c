"""The configuration of a corpus, checked as a whole."""

from typing import Any

from pydantic import model_validator

from corpus_assets.config.selection.presets import written_out
from corpus_assets.config.whole import names, parts
from corpus_assets.config.whole.schema import Schema


class CorpusConfig(Schema):
    """Everything a corpus is made from."""

    @model_validator(mode="before")
    @classmethod
    def _presets_written_out(cls, values: Any) -> Any:
        return written_out(values) if isinstance(values, dict) else values

    @model_validator(mode="after")
    def _consistent(self) -> "CorpusConfig":
        for check in (*names.CHECKS, *parts.CHECKS):
            check(self)
        return self
