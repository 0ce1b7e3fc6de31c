"""`licences` of `corpus.yaml`: the licences that texts may have."""

from typing import Annotated, Literal

from pydantic import Field

from corpus_assets.config.section import Section

Licence = Annotated[str, Field(min_length=1)]


class Licences(Section):
    """Licences that texts may have; all others are held back, and counted (docs/licences.md)."""

    allow: list[Licence] | None = Field(
        None,
        description="licences that are allowed, as SPDX identifiers or in a common spelling; `*` stands for any "
        "characters; without it all are",
    )
    without: Literal["drop", "keep"] = Field(
        "drop", description="what becomes of documents for which no licence is stated, if `allow` is given"
    )
