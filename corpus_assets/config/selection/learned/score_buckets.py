"""An entry of `attributes` that puts each document into a bucket by a score, such as CCNet's head, middle and tail."""

from itertools import pairwise
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from corpus_assets.config.naming import ATTRIBUTE
from corpus_assets.config.section import Name, Section
from corpus_assets.config.selection.attributes import entry_name, key_prefix, label_key

_MOST = 100


def _score_key(value: str) -> str:
    """Returns the name of a score; `ValueError` for another form."""
    entry, _, kind = value.rpartition(".")
    try:
        label_key(entry if kind.isidentifier() else "")
    except ValueError:
        raise ValueError("ENTRY.TAGGER.TYPE, for example lm.english.perplexity") from None
    return value


class ScoreBuckets(Section):
    """Buckets of a score: one asset `<name>_attributes`, whose label `<name>.bucket` is the bucket of a document."""

    name: Annotated[Name, AfterValidator(entry_name)] = Field(
        description="short name; folder of the files that are written, and first part of every attribute key"
    )
    score: Annotated[str, AfterValidator(_score_key), ATTRIBUTE] = Field(
        description="`ENTRY.TAGGER.TYPE` of another entry, such as lm.english.perplexity"
    )
    buckets: Annotated[list[Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]], Field(min_length=2)] = Field(
        default=["head", "middle", "tail"],
        max_length=_MOST,
        description="names of the buckets, from that of the least scores on; by default CCNet's",
    )
    percentiles: list[Annotated[float, Field(gt=0, lt=100)]] = Field(
        default=[30.0, 60.0],
        description="percent of all documents with the score up to the end of each bucket but the last; by default "
        "CCNet's",
    )
    by: Annotated[str | None, AfterValidator(lambda value: value and label_key(value)), ATTRIBUTE] = Field(
        None,
        description="`ENTRY.TAGGER` of another entry, such as lang.language: each label has borders of its own",
    )

    @property
    def prefix(self) -> str:
        """Returns the first part of its attribute keys."""
        return key_prefix(self.name)

    @model_validator(mode="after")
    def _fits(self) -> "ScoreBuckets":
        if any(low >= high for low, high in pairwise(self.percentiles)):
            raise ValueError(f"percentiles: received {self.percentiles}; valid: numbers that ascend")
        if len(self.percentiles) != len(self.buckets) - 1:
            raise ValueError(
                f"percentiles: received {len(self.percentiles)} for {len(self.buckets)} buckets; valid: one less than "
                "buckets"
            )
        if len(set(self.buckets)) < len(self.buckets):
            raise ValueError(f"buckets: received {', '.join(self.buckets)}; valid: different names")
        return self
