"""How raw files are reached that lie elsewhere."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from corpus_assets.config.section import Section
from resources.raw_addresses import check_location, scheme_of

LOCATION = (
    "folder of {}; relative paths start at that of corpus.yaml; `~` and `$HOME` are read; or `s3://bucket/prefix`, "
    "`hf://datasets/org/name@revision`, or `https://` of a list of URLs or of one file (docs/inputs.md)"
)


def _endpoint(value: str) -> str:
    check_location(value)
    if scheme_of(value) not in ("http", "https"):
        raise ValueError("an address such as https://host:port")
    return value


class S3Access(Section):
    """How an object store is reached. Credentials come from the environment, a profile or the machine's role alone."""

    endpoint: Annotated[str, AfterValidator(_endpoint)] | None = Field(
        None, description="address of a compatible store; without it Amazon's"
    )
    region: str | None = Field(None, min_length=1, description="region; without it that of the environment")
    profile: str | None = Field(None, min_length=1, description="profile of the AWS configuration with the credentials")
    addressing: Literal["auto", "path", "virtual"] = Field("auto", description="where the name of the bucket goes")
    anonymous: bool = Field(False, description="read a public bucket without credentials")


def require_object_store(location: str, access: S3Access | None) -> None:
    """Raises `ValueError` for access to an object store where the location is none."""
    if access is not None and scheme_of(location) != "s3":
        raise ValueError("s3: without effect unless location is s3://bucket/prefix; leave it out")
