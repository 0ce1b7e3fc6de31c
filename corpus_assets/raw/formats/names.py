"""Finds the format of a raw file from its name, and checks it against the first bytes."""

from typing import Final

from resources.errors import BadFileError

FORMATS: Final = (
    *("jsonl", "jsonl.gz", "json.gz", "jsonl.zst", "jsonl.zst.tar", "parquet", "txt", "txt_list"),
    *("csv", "csv.gz", "csv.zst", "tsv", "tsv.gz", "tsv.zst"),
    *("warc", "warc.gz", "warc.zst", "warc.wet", "warc.wet.gz", "warc.wet.zst"),
)
"""The formats of raw files. `txt_list` is never chosen by name: a list of text files ends in `.txt`, as a text does."""

HEAD_BYTES: Final = 512
UTF8_BOM: Final = b"\xef\xbb\xbf"

_CONTAINER: Final = {
    **{known: "gzip" for known in FORMATS if known.endswith(".gz")},
    **{known: "zstd" for known in FORMATS if known.endswith(".zst")},
    "jsonl.zst.tar": "tar",
    "parquet": "parquet",
}
_MAGIC: Final = (
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"PAR1", "parquet"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"PK\x03\x04", "zip"),
)
_PRINTABLE_MAGIC: Final = frozenset({"parquet", "bzip2", "tar"})
# Byte order marks, and an opening brace in two or four bytes.
_WIDE_STARTS: Final = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff", b"{\0", b"\0{", b"\0\0\0{")
_SKIPPABLE_FRAME: Final = b"\x2a\x4d\x18"
_TAR_MAGIC: Final = slice(257, 262)


def resolve_format(name: str, declared: str = "auto") -> str:
    """Returns the declared format, or for `auto` the longest known suffix of `name` in any letter case.

    Raises `BadFileError` for a suffix or a declared format that is not in `FORMATS`.
    """
    if declared != "auto":
        if declared not in FORMATS:
            raise BadFileError(name, f"unknown format {declared!r}; known: auto, {', '.join(FORMATS)}")
        return declared
    lowered = name.lower()
    found = [known for known in FORMATS if known != "txt_list" and lowered.endswith("." + known)]
    if not found:
        suffixes = ", ".join("." + known for known in FORMATS if known != "txt_list")
        raise BadFileError(name, f"unknown file type; readable: {suffixes}")
    return max(found, key=len)


def identify(head: bytes) -> str:
    """Returns the name of the container that the first `HEAD_BYTES` of a file show; `plain` if none is recognized."""
    for magic, container in _MAGIC:
        if head.startswith(magic):
            return container
    if head[1:4] == _SKIPPABLE_FRAME and head[0] >> 4 == 5:
        return "zstd"
    return "tar" if head[_TAR_MAGIC] == b"ustar" else "plain"


def check_content(where: str, kind: str, head: bytes) -> None:
    """Raises `BadFileError` if the first bytes contradict the format `kind`; empty files pass."""
    expected, found = _CONTAINER.get(kind, "plain"), identify(head)
    if not head or found == expected:
        return
    if expected == "tar" and found == "plain":
        return  # the oldest tar dialect has no magic, and an empty archive is all zeros
    if kind.startswith(("txt", "csv", "tsv")) and found in _PRINTABLE_MAGIC:
        return  # a text may begin with any letters
    raise BadFileError(where, f"{kind} promises {expected} bytes, but the content is {found}; {_mend(kind, found)}")


def _mend(kind: str, found: str) -> str:
    """Returns what a person can do with a file whose name says `kind` and whose content is another container."""
    base = kind.removesuffix(".tar").removesuffix(".gz").removesuffix(".zst")
    named = {"plain": [base], "gzip": [f"{base}.gz"], "zstd": [f"{base}.zst"], "parquet": ["parquet"]}
    lines = {"zstd": ["jsonl.zst"], "plain": ["jsonl"]}.get(found, []) if base == "json" else []
    fitting = [end for end in (*named.get(found, []), *lines) if end in FORMATS and end != kind]
    if not fitting and found == "plain":
        return "the file is damaged, or is of another format"
    if not fitting:
        return f"no format of these names is packed as {found}: unpack the file"
    return f"if that is what it is, let its name end in .{fitting[0]}, or give its source `format: {fitting[0]}`"


def check_utf8_start(where: str, head: bytes) -> None:
    """Raises `BadFileError` if decoded content starts like UTF-16 or UTF-32 instead of UTF-8."""
    if head.startswith(_WIDE_STARTS):
        raise BadFileError(where, "starts like UTF-16 or UTF-32; valid is UTF-8")
