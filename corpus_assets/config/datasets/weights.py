"""`weights` of a dataset: how many tokens of each source it holds."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from corpus_assets.config.naming import DATASET, SOURCE
from corpus_assets.config.section import LocalPath, Section, Share

Weight = Annotated[Share, Field(ge=0, allow_inf_nan=False)]


def _form(value: Any) -> str:
    return "path" if isinstance(value, str) else "mapping"


Shares = Annotated[
    Annotated[dict[str, Weight], Tag("mapping"), Field(min_length=1)] | Annotated[LocalPath, Tag("path")],
    Discriminator(_form),
]
Tokens = Annotated[
    Annotated[dict[str, Annotated[int, Field(ge=0)]], Tag("mapping"), Field(min_length=1)]
    | Annotated[LocalPath, Tag("path")],
    Discriminator(_form),
]


class Weights(Section):
    """Tokens by source or unit: documents are repeated or left out until each has the tokens that it should have."""

    shares: Annotated[Shares | None, SOURCE] = Field(
        None,
        description="share of the tokens by source, which need not add up to 1; or the path of a CSV with the "
        "columns `domain` and `weight`. Other sources are left out. With `mix.units` by unit, and then they add up to "
        "1 (docs/mixing-by-buckets.md)",
    )
    tokens: Annotated[Tokens | None, SOURCE] = Field(
        None, description="instead of shares: tokens of each source; or a CSV with the columns `domain` and `tokens`"
    )
    total: int | None = Field(
        None,
        ge=1,
        description="with shares: tokens of all sources together; by default as many as their documents have",
    )
    max_epochs: float = Field(4.0, gt=0, description="how often the documents of a source may be used")
    on_excess: Literal["fail", "cap", "share"] = Field(
        "fail",
        description="a source that would be used more often fails the dataset, or is limited to `max_epochs`; with "
        "`share` the others get what it cannot have, in proportion, so that the total stays (UniMax)",
    )
    seed: int = Field(0, ge=0, lt=2**63, description="seed of the choice and order of documents")
    after: Annotated[str | None, DATASET] = Field(
        None,
        description="a dataset before this one, with weights and of the same texts: each source goes on where that "
        "dataset left it; `max_epochs` counts its uses too, and its seed is used",
    )

    fitted_on: dict[str, str] | None = Field(
        None,
        description="on what content the weights were fitted: digests by asset, which `corpus weights` prints; the "
        "plan says if it is other content now. A CSV says it itself",
    )

    def given(self) -> Mapping[str, float]:
        """Returns shares or tokens by source; nothing if they are in a file."""
        found = self.shares if self.tokens is None else self.tokens
        return found if isinstance(found, Mapping) else {}

    @property
    def file(self) -> tuple[str, str] | None:
        """Returns the key that names a file, and its path; None if the weights stand in corpus.yaml."""
        given = (("shares", self.shares), ("tokens", self.tokens))
        return next(((key, value) for key, value in given if isinstance(value, str)), None)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.shares is None) == (self.tokens is None):
            raise ValueError(
                f"weights need either shares or tokens; received {'neither' if self.shares is None else 'both'}"
            )
        if self.total is not None and self.shares is None:
            raise ValueError("total is only valid with shares")
        if self.after is not None and "seed" in self.model_fields_set:
            raise ValueError(f"seed is that of {self.after!r}, after which this one goes on; leave it out")
        if isinstance(self.shares, Mapping) and not sum(self.shares.values()):
            raise ValueError("shares are all 0; valid: at least one above 0")
        return self
