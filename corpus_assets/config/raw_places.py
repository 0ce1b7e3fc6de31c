"""Access to raw files on other machines."""

from pydantic import Field

from corpus_assets.config.storage import S3Section
from resources.raw_places.addresses import scheme_of

LOCATION = (
    "folder of {} (relative paths start at the folder of corpus.yaml; `~` and `$HOME` are expanded), "
    "`s3://bucket/prefix`, `hf://datasets/org/name@revision`, or `https://` of a list of URLs or of one file "
    "(docs/inputs.md)"
)


class S3Access(S3Section):
    """Access to the object store of an `s3://` location; `storage.s3` has no effect on it."""

    anonymous: bool = Field(False, description="read a public bucket without credentials")


def require_object_store(location: str, access: S3Access | None) -> None:
    """Raises `ValueError` for object store access with a location that is not in one."""
    if access is not None and scheme_of(location) != "s3":
        raise ValueError("s3: without effect unless location is s3://bucket/prefix; leave it out")
