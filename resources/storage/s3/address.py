"""Addresses of object stores, `s3://bucket/prefix`; this module loads no library."""

import re
from typing import NamedTuple

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


class Address(NamedTuple):
    """A place in an object store: a bucket, and the beginning of keys, without `/` at its end."""

    bucket: str
    prefix: str

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")

    def key(self, path: str) -> str:
        """Returns the key of a path below this place."""
        return f"{self.prefix}/{path}" if self.prefix else path


def parse_address(url: str) -> Address:
    """Returns the place that `s3://bucket/prefix` names.

    Raises `ValueError` for anything else; the message never shows what may be a credential.
    """
    scheme, _, rest = url.partition("://")
    bucket, _, prefix = rest.partition("/")
    if "@" in bucket or ":" in bucket:
        raise ValueError("valid: s3://bucket/prefix, without a port, and with credentials in the environment alone")
    if scheme != "s3" or not _BUCKET.fullmatch(bucket):
        raise ValueError("valid: s3://bucket/prefix, with a bucket of 3 to 63 small letters, digits, dots and hyphens")
    prefix = prefix.rstrip("/")
    names = prefix.split("/") if prefix else []
    if any(mark in prefix for mark in "?#\\") or any(name in ("", ".", "..") for name in names):
        raise ValueError("valid: s3://bucket/prefix, with a prefix of plain names between single '/'")
    return Address(bucket, prefix)
