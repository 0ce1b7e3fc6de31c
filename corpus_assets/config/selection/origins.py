"""`origins` of `corpus.yaml`: counts of the domains, hosts and dates that the documents of train are from."""

from typing import Annotated

from pydantic import Field

from corpus_assets.config.naming import ATTRIBUTE, FILE, METADATA_KEY
from corpus_assets.config.section import LocalPath, Section


class Origins(Section):
    """Domains, hosts, suffixes and years of the documents to train on, counted (docs/origins.md)."""

    url_keys: Annotated[list[Annotated[str, Field(min_length=1)]], METADATA_KEY] = Field(
        default=["url", "warc_url"], min_length=1, description="keys of the metadata that may hold a document's URL"
    )
    suffix_list: Annotated[LocalPath | None, FILE] = Field(
        None,
        description="a local copy of the Public Suffix List; by default that of the package `tldextract` (extra "
        "`domains`)",
    )
    tokens: bool = Field(True, description="count tokens too, for which each document is tokenized once more")
    language: Annotated[str | None, ATTRIBUTE] = Field(
        None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\.[A-Za-z0-9_]+$",
        description="attribute whose types are languages, as ENTRY.TAGGER: scores of all other attributes are counted "
        "by the language of a document, which is the type with the highest score",
    )
    most: int = Field(1000, ge=1, le=100_000, description="how many domains, hosts and suffixes of a source are listed")
