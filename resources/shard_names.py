"""What a raw file is called in the store."""

import os
import re

from resources.hashing import content_digest
from resources.raw_places.data_suffixes import data_suffix

CUT_SUFFIXES = (
    *(".jsonl.zst.tar", ".jsonl.gz", ".jsonl.zst", ".json.gz", ".jsonl", ".parquet", ".txt"),
    *(".csv.gz", ".csv.zst", ".csv", ".tsv.gz", ".tsv.zst", ".tsv"),
    *(".warc.wet.gz", ".warc.wet.zst", ".warc.wet", ".warc.gz", ".warc.zst", ".warc"),
)
"""The suffixes that names in the store are without. Those that were added later stay, because a source with a `format`
could have such files before; what was built of them keeps its name.
"""
MAX_NAME = 96


def shard_name(path: str) -> str:
    """Returns the path of a shard in the store: the raw path without its data suffix, in `[a-z0-9._-/]` only.

    Only `CUT_SUFFIXES` are cut. If the name is changed otherwise (other characters, `--`, too long), a hash of the raw
    path is appended, so that paths that differ in more than the suffix never share a name. It is also appended if a
    folder or the file begins or ends with `-`: in a key, where `/` is `--`, the two could not be told apart. Three dots
    are in no name: between two keys they are Dagster's range.
    """
    stem = path.removesuffix(path[len(path) - len(_cut_suffix(path)) :])
    *folders, last = (_plain(name) for name in stem.split("/"))
    # A folder with the name of one of our files would take that file's place.
    plain = "/".join([*(name.replace(".", "-") if _cut_suffix(name) else name for name in folders), last])
    bare = all(part.strip("-") == part for part in plain.split("/")) and not plain.endswith(".")
    if plain == stem and bare and "--" not in plain and len(plain) <= MAX_NAME:
        return plain
    return with_hash(plain[:MAX_NAME].rstrip("/"), path)


def _plain(name: str) -> str:
    """Returns a name in the store's characters; names such as `..`, possible in object keys, become `-`."""
    return "-" if name in ("", ".", "..") else re.sub(r"[^a-z0-9._-]|\.{3,}", "-", name.lower())


def with_hash(name: str, path: str) -> str:
    """Returns a name with a hash of the raw path, which makes it unique."""
    return f"{name}-{content_digest(os.fsencode(path))[:8]}"


def _cut_suffix(path: str) -> str:
    suffix = data_suffix(path)
    return suffix if suffix is not None and suffix.lower() in CUT_SUFFIXES else ""
