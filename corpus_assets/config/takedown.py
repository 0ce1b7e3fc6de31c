"""`remove` of `corpus.yaml`: lists of documents that may be in no output."""

from typing import Annotated

from pydantic import Field

from corpus_assets.config.section import LocalPath, Section

Key = Annotated[str, Field(min_length=1)]


class Remove(Section):
    """Documents that leave every output: their ids, URLs or text digests, one per line (docs/takedown.md)."""

    location: LocalPath = Field(
        description="file, or files by a pattern such as `lists/*.txt`; relative paths start at that of corpus.yaml"
    )
    url_keys: list[Key] = Field(
        default=["url", "warc_url"], description="keys of the metadata that hold a document's URL"
    )
