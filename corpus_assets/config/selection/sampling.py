"""A sample of a corpus: the share of the raw rows that it reads, and the corpus that it samples."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from corpus_assets.config.naming import FILE, SOURCE
from corpus_assets.config.section import Name, Section, Share
from resources.errors import ConfigError

SAMPLE = "sample"


class Sample(Section):
    """A corpus made from some of the raw rows, chosen by a keyed hash of seed, source, raw file and row.

    `corpus build --sample` and `--limit` write this section.
    """

    of: Annotated[str | None, FILE] = Field(
        None, description="the corpus.yaml of the whole corpus, which gives all other sections; relative to this file"
    )
    share: Share | None = Field(
        None,
        gt=0,
        le=1,
        description="share of the rows of each source and of a dataset's own files; by default all",
    )
    shares: Annotated[dict[Name, Share], SOURCE] = Field(
        default={}, description="share of the rows of single sources or datasets, instead of `share`"
    )
    seed: int = Field(0, ge=0, lt=2**63, description="another seed gives another sample")

    def share_of(self, name: str) -> float:
        """Returns the share of a source, or of a dataset with files of its own.

        `ConfigError` if there are shares, and none for it: it was added after the sample was made.
        """
        if (share := self.shares.get(name, self.share)) is not None:
            return share
        if self.shares:
            raise ConfigError(f"sample.shares: no share for {name!r}, which was added later; make the sample again")
        return 1.0


def with_sample(values: dict[str, Any], sample: Sample | None) -> dict[str, Any]:
    """Returns the plain values of a configuration with its sampling applied; unchanged without a sample.

    Sections of sources, and of datasets' own files, get a key `sample`, which becomes part of the recipes of stages
    that read raw rows. They may be empty, since a small sample may hold no row of some. Benchmarks are never sampled.
    """
    if sample is None:
        return values
    sources = [_sampled(source, source["name"], sample) for source in values["sources"]]
    datasets = [
        {**one, "input": _sampled(one["input"], one["name"], sample)} if isinstance(one["input"], dict) else one
        for one in values["datasets"]
    ]
    return {**values, "sources": sources, "datasets": datasets}


def _sampled(section: Mapping[str, Any], name: str, sample: Sample) -> dict[str, Any]:
    share = {"share": sample.share_of(name), "seed": sample.seed}
    return {**section, SAMPLE: share, "may_be_empty": True}
