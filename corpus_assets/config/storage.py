"""Section `storage` of `corpus.yaml`: the place of the corpus, and access to an object store."""

import re
from typing import Any, Literal

from pydantic import Field, JsonValue, model_validator

from corpus_assets.config.section import Bytes, Section, local_path
from resources.outside.hidden import HIDDEN
from resources.storage.s3.address import parse_address


def _shown(address: str) -> str:
    """Returns an address as text; hides one that may hold credentials."""
    return HIDDEN if any(mark in address for mark in "@?#") else repr(address)


class S3Section(Section):
    """How an object store is reached; its credentials come from the environment, never from here."""

    endpoint: str | None = Field(None, description="address of a compatible store, such as `https://s3.example.org`")
    region: str | None = Field(None, description="region; by default that of the environment or the profile")
    profile: str | None = Field(None, description="profile of the AWS configuration, for its credentials and region")
    addressing: Literal["auto", "path", "virtual"] = Field(
        "auto", description="where addresses have the name of the bucket; many compatible stores need `path`"
    )
    concurrency: int = Field(8, ge=1, le=256, description="requests at once, per worker")
    part_size: Bytes = Field(8 << 20, ge=5 << 20, le=1 << 30, description="bytes of a request for a part of a file")

    @model_validator(mode="before")
    @classmethod
    def _holds_no_credentials(cls, values: Any) -> Any:
        given = sorted(map(str, values)) if isinstance(values, dict) else []
        if found := [name for name in given if re.search("(?i)secret|token|password|access_?key|credential", name)]:
            raise ValueError(
                f"{found[0]}: credentials do not belong in corpus.yaml; valid: those of the environment "
                "(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), of `profile`, or of the machine's role"
            )
        return values

    @model_validator(mode="after")
    def _has_an_address(self) -> "S3Section":
        if self.endpoint is not None and not re.fullmatch(r"https?://[^\s/@?#]+/?", self.endpoint):
            raise ValueError(
                f"endpoint: received {_shown(self.endpoint)}; valid: http:// or https:// with host and port alone, "
                "without credentials"
            )
        return self


class CacheSection(Section):
    """Local copies of files of an object store that are mapped or read at random."""

    folder: str | None = Field(
        None, min_length=1, description="folder; by default one in the user's cache; workers write there too"
    )
    limit: Bytes = Field(20 * 10**9, description="most bytes of all copies; the least recently used are removed first")


class StorageSection(Section):
    """The store, which holds the corpus."""

    kind: str = Field(
        "local",
        description="`local`: a folder of this machine; `s3`: an object store (implied by a root `s3://...`); or "
        "`module:function` of a store of your own",
    )
    root: str = Field(
        "corpus", description="folder (relative paths start at the folder of corpus.yaml), or `s3://bucket/prefix`"
    )
    sync: bool = Field(True, description="flush every commit to disk, so that it survives a power cut")
    compression: Literal["gzip", "zstd", "lz4"] = Field(
        "gzip",
        description="compression of documents, attributes and other rows; `lz4` takes the least CPU time and more "
        "room, `zstd` less than gzip and no more room. What is built stays as it is until it is made again "
        "(docs/layout.md)",
    )
    s3: S3Section = S3Section()
    cache: CacheSection = CacheSection()
    lease: float = Field(
        120.0,
        ge=10,
        description="seconds after which other builders take over the leases of a builder in an object store "
        "that does not renew them, because it died or was stopped",
    )
    options: dict[str, JsonValue] = Field(default={}, description="options for a store of your own")

    @model_validator(mode="before")
    @classmethod
    def _is_s3(cls, values: Any) -> Any:
        if isinstance(values, dict) and "kind" not in values and str(values.get("root")).startswith("s3://"):
            return {**values, "kind": "s3"}
        return values

    @model_validator(mode="after")
    def _is_a_place(self) -> "StorageSection":
        if self.kind == "s3":
            try:
                parse_address(self.root)
            except ValueError as error:
                raise ValueError(f"root: received {_shown(self.root)}; {error}") from None
        if self.kind == "local":
            try:
                local_path(self.root)
            except ValueError as error:
                shown = "an address with credentials" if "@" in self.root else repr(self.root)
                raise ValueError(f"root is {shown}; valid with kind local: {error}") from None
        return self
