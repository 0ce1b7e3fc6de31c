"""Files of windows, line by line: each must be a JSON object with `token_ids`, all of one length and in range.

`source` must be a text; samples of Amber have lines without. `Bad line` and `Bad length` are the words of
amber-data-prep, which checks no more.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

import msgspec

from corpus_assets.config.datasets.amber_exports import AmberExport

LENGTH: int = AmberExport.model_fields["window"].default
LONGEST_LINE = 64 << 20
"""Most bytes of a line; a longer one is bad."""


class _Line(msgspec.Struct):
    token_ids: list[int]
    source: str | msgspec.UnsetType = msgspec.UNSET


class _Fields(msgspec.Struct):
    token_ids: msgspec.Raw = msgspec.Raw()
    source: msgspec.Raw = msgspec.Raw()


_LINE, _FIELDS = msgspec.json.Decoder(_Line), msgspec.json.Decoder(_Fields)
_IDS = msgspec.json.Decoder(list[int])


class Checked(NamedTuple):
    """A line of a file, counted from 1, and what is wrong with it; None if nothing is."""

    number: int
    fault: str | None


@dataclass(frozen=True)
class Rule:
    """The requirements of lines.

    length: ids of a window. vocabulary: ids from this one on are bad; None: no limit. with_source: lines without a
    source are bad.
    """

    length: int = LENGTH
    vocabulary: int | None = None
    with_source: bool = False


def checked_lines(file: BinaryIO, rule: Rule) -> Iterator[Checked]:
    """Yields every line of a file, with its fault."""
    for number, line in enumerate(_lines(file), 1):
        yield Checked(number, _fault(line, number, rule))


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Yields the lines; None for one that is too long."""
    while line := file.readline(LONGEST_LINE):
        cut = len(line) == LONGEST_LINE and not line.endswith(b"\n")
        yield None if cut else line
        while cut and (rest := file.readline(LONGEST_LINE)):
            cut = not rest.endswith(b"\n")


def _fault(line: bytes | None, number: int, rule: Rule) -> str | None:
    if line is None:
        return f"Bad line: {number} (over {LONGEST_LINE >> 20} MiB)"
    try:
        found = _LINE.decode(line)
    except msgspec.ValidationError:
        return _wrong_types(line, number)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return f"Bad line: {number}"
    ids = found.token_ids
    if len(ids) != rule.length:
        return f"Bad length at {number}: {len(ids)}"
    if (lowest := min(ids)) < 0 or (rule.vocabulary is not None and max(ids) >= rule.vocabulary):
        return f"Bad id at {number}: {lowest if lowest < 0 else max(ids)}"
    return f"No source at {number}" if rule.with_source and found.source is msgspec.UNSET else None


def _wrong_types(line: bytes, number: int) -> str:
    """Returns the fault of a JSON line with wrong types."""
    try:
        fields = _FIELDS.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return f"Bad line: {number}"
    if not bytes(fields.token_ids):
        return f"No token_ids at {number}"
    try:
        _IDS.decode(fields.token_ids)
    except (msgspec.MsgspecError, RecursionError) as error:
        return f"Bad token_ids at {number}: {error}"
    return f"Bad source at {number}: no text"
