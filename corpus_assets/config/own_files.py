"""Where files lie that a dataset reads by itself, and what may be bad of them: of texts, and of tokens."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from corpus_assets.config.naming import FILE
from corpus_assets.config.raw_places import LOCATION, S3Access, require_object_store
from corpus_assets.config.section import Location, Section
from corpus_assets.config.sections import FollowLinks, Globs, Hidden, MaxBadRows, MayBeEmpty


class OwnFiles(Section):
    """Files that one dataset reads by itself."""

    location: Annotated[Location, FILE] = Field(description=LOCATION.format("the files"))
    s3: S3Access | None = Field(None, description="access to the object store of an `s3://` location")
    glob: Annotated[Globs, FILE] = Field(
        "**/*", description="which files below `location`; `*` matches within a folder, `**` across folders"
    )
    on_bad_row: Literal["skip", "fail"] = Field("skip", description="skip and count a bad row, or fail its file")
    on_bad_file: Literal["fail", "skip"] = Field(
        "fail", description="fail a file that cannot be read, or continue without it and count it"
    )
    max_bad_rows: MaxBadRows = 0.5
    may_be_empty: MayBeEmpty = False
    follow_links: FollowLinks = False
    hidden: Hidden = False
    licence: str | None = Field(None, description="licence of the texts, for the record")

    @model_validator(mode="after")
    def _fits(self) -> "OwnFiles":
        require_object_store(self.location, self.s3)
        return self
