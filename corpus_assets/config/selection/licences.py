"""`licences` of `corpus.yaml`: the licences that texts may have."""

from typing import Annotated, Literal

from pydantic import Field

from corpus_assets.config.section import Section

Licence = Annotated[str, Field(min_length=1)]


class Licences(Section):
    """Licences that texts may have; all others are held back, and counted (docs/licences.md)."""

    allow: list[Licence] | None = Field(
        None,
        description="allowed licences, as SPDX identifiers or in a common spelling; `*` stands for any "
        "characters; by default all",
    )
    without: Literal["drop", "keep"] = Field(
        "drop", description="with `allow`: drop or keep documents without a stated licence"
    )
