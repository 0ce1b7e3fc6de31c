"""How raw files are reached that lie elsewhere."""

from pydantic import Field

from corpus_assets.config.storage import S3Section
from resources.raw_places.addresses import scheme_of

LOCATION = (
    "folder of {}; relative paths start at that of corpus.yaml; `~` and `$HOME` are read; or `s3://bucket/prefix`, "
    "`hf://datasets/org/name@revision`, or `https://` of a list of URLs or of one file (docs/inputs.md)"
)


class S3Access(S3Section):
    """How the object store of an `s3://` location is reached; as `storage.s3`, which has no say in it."""

    anonymous: bool = Field(False, description="read a public bucket without credentials")


def require_object_store(location: str, access: S3Access | None) -> None:
    """Raises `ValueError` for access to an object store where the location is none."""
    if access is not None and scheme_of(location) != "s3":
        raise ValueError("s3: without effect unless location is s3://bucket/prefix; leave it out")
