"""`remove` of `corpus.yaml`: lists of documents that may be in no output."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from corpus_assets.config.naming import FILE, METADATA_KEY
from corpus_assets.config.raw_places import S3Access, require_object_store
from corpus_assets.config.section import Section
from resources.raw_places.addresses import check_files

Key = Annotated[str, Field(min_length=1)]


class Remove(Section):
    """Documents that leave every output: their ids, URLs or text digests, one per line (docs/takedown.md)."""

    location: Annotated[str, Field(min_length=1), AfterValidator(check_files), FILE] = Field(
        description="file, or files by a pattern such as `lists/*.txt` (relative paths start at the folder of "
        "corpus.yaml); or `s3://bucket/lists/*.txt`, `hf://datasets/org/name@revision/lists/*.txt`, or "
        "`https://` of one file"
    )
    s3: S3Access | None = Field(None, description="access to the object store of an `s3://` location")
    url_keys: Annotated[list[Key], METADATA_KEY] = Field(
        default=["url", "warc_url"], description="keys of the metadata that hold a document's URL"
    )

    @model_validator(mode="after")
    def _fits(self) -> "Remove":
        require_object_store(self.location, self.s3)
        return self

    @model_serializer(mode="wrap")
    def _as_written(self, values: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # The report's recipe holds the configuration; defaults are left out so that older recipes stay the same.
        return {key: value for key, value in values(self).items() if key != "s3" or value is not None}
