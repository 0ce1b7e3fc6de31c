"""Digests of content, and keyed hashes, which are the only source of chance in the project."""

import struct
from typing import Any

import msgspec
import xxhash


def keyed_hash(purpose: str, seed: int, *parts: str | bytes | int) -> int:
    """Returns a uniform 64-bit integer that depends only on its arguments.

    Every random choice (chunk, order, holdout, extra epoch) is a threshold or a sort on such a number, so it is
    the same for any number of workers, any order of arrival and any other documents. `purpose` keeps the choices
    independent of each other. Parts are length-prefixed: ("ab", "c") and ("a", "bc") differ.
    """
    hasher = xxhash.xxh3_64(purpose.encode(), seed=seed)
    for part in parts:
        raw = part.to_bytes(8, "little") if isinstance(part, int) else part.encode() if isinstance(part, str) else part
        hasher.update(struct.pack("<I", len(raw)))
        hasher.update(raw)
    return hasher.intdigest()


def content_digest(*parts: bytes | bytearray) -> str:
    """Returns the xxh3-128 of the parts, each with its length before it, as 32 hex digits."""
    hasher = xxhash.xxh3_128()
    for part in parts:
        hasher.update(struct.pack("<Q", len(part)))
        hasher.update(part)
    return hasher.hexdigest()


def value_digest(value: Any) -> str:
    """Returns the `content_digest` of a plain value as JSON; the order of its keys does not matter."""
    return content_digest(msgspec.json.encode(value, order="deterministic"))
