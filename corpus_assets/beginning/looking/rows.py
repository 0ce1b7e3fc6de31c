"""Reads the first rows of a raw file as they are, in bounded time and memory."""

import io
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, Final, cast

from corpus_assets.beginning.looking.contents import Content, UnreadError, content_of
from corpus_assets.beginning.looking.tables import table_options
from corpus_assets.beginning.looking.values import SHOWN, AsItIs, Row, begun_object
from corpus_assets.config.file_formats import LIBRARIES
from corpus_assets.raw.binary import binary_kind
from corpus_assets.raw.formats.names import identify, resolve_format
from corpus_assets.raw.readers import NO_OPTIONS, RawFile, read_rows
from corpus_assets.raw.rows.faults import BadRow, PassedOver
from corpus_assets.raw.rows.rules import FormatOptions, Limits
from corpus_assets.raw.web.extractors import extractor_version
from resources.errors import BadFileError, ConfigError, CorpusError
from resources.formats.codecs import CODECS, CodecError, open_packed
from resources.raw_places import LocalFolder, RawPlace
from resources.raw_places.files import FoundFile, printable

MOST_ROWS: Final = 100
LONGEST: Final = 8 << 20
"""Bytes of the longest row that is looked at as a whole."""
_COLUMNS: Final = ("parquet", "arrow")
_MOST_READ: Final = dict.fromkeys(_COLUMNS, 256 << 20)
_LONGEST_READ: Final = 256 << 20
"""Bytes of the longest row that a build reads by default (`longest_row`)."""
_OVER_LIMITS: Final = ("allowed for its size", "(`longest_row`)")
"""What readers say of a stream, and of a text, that is longer than a sample may be."""


@dataclass(frozen=True)
class Sample:
    """The first rows of a file. path: its name in messages. format, options: how to read it.

    rows: values by key; a text without keys is under the empty one. bad: rows that cannot be read, by reason. example:
    one of them, in words. is_long: the first row is longer than `LONGEST`, and only its beginning was read. needs: an
    extra without which the file cannot be read.
    """

    path: str
    format: str
    options: FormatOptions = NO_OPTIONS
    rows: list[Row] = field(default_factory=list)
    bad: Mapping[str, int] = field(default_factory=dict)
    example: str = ""
    is_long: bool = False
    needs: str = ""


class _EnoughError(CorpusError):
    """As many bytes were read as a sample may have."""


class _Bounded(io.RawIOBase):
    """A binary stream of which a limited number of bytes can be read."""

    def __init__(self, raw: BinaryIO, most: int) -> None:
        self._raw = raw
        self._left = most
        self.seek = raw.seek  # type: ignore[method-assign]
        self.tell = raw.tell  # type: ignore[method-assign]

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._left <= 0:
            raise _EnoughError("as much as a sample may have")
        block = self._raw.read(size if size >= 0 else self._left)
        self._left -= len(block)
        return block

    def readinto(self, buffer: Any) -> int:
        block = self.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self._raw.close()
        super().close()


def sample_of(place: RawPlace, file: FoundFile, most_bytes: int) -> Sample:
    """Returns the first rows of a file, of about `most_bytes`; `UnreadError` if it cannot be a raw file.

    A file that is damaged behind its first rows is a sample like another: only a build reads it to the end.
    """
    if file.problem:
        raise UnreadError("cannot_be_opened", file.problem)
    name = printable(file.path)
    try:
        with place.open(file, name) as raw:
            content = content_of(name, raw)
        opening = _Opening(place, file, name)
        return _read(opening, content, most_bytes)
    except BadFileError as error:
        raise UnreadError("damaged", error.problem) from None


@dataclass(frozen=True)
class _Opening:
    """How the file is opened again."""

    place: RawPlace
    file: FoundFile
    name: str

    def raw(self, most: int) -> BinaryIO:
        return cast(BinaryIO, _Bounded(self.place.open(self.file, self.name), most))


def _read(opening: _Opening, content: Content, most_bytes: int) -> Sample:
    kind = resolve_format(opening.name, content.format).rows
    options = table_options(kind, content.head) if kind in ("csv", "tsv") else FormatOptions()
    if kind.startswith("warc"):
        return _crawl(opening, content, kind, most_bytes)
    sample, why = _rows(opening, content.format, kind, options, most_bytes)
    if not sample.rows and why == "enough" and kind not in _COLUMNS and not sample.bad:
        return _long_row(opening, sample, kind, content.head)
    if not sample.rows and sample.bad and (found := binary_kind(content.head)):
        raise UnreadError("binary", f"begins like {found}")
    if kind == "txt" and sample.rows:
        _require_no_list(opening, sample.rows[0][""])
    return sample


def _require_no_list(opening: _Opening, text: str) -> None:
    """Raises `UnreadError` for a text that lists text files, or addresses."""
    lines = [line.strip() for line in text.splitlines()[:50] if line.strip()]
    if all(re.fullmatch(r"https?://\S+", line) for line in lines):
        raise UnreadError("list", "lists addresses; `corpus init` of its own address reads what they lead to")
    if all(line.lower().endswith(".txt") for line in lines):
        (named,) = opening.place.members(opening.file, lines[:1])
        if not named.problem:
            raise UnreadError("list", "lists text files, which are read by themselves")


def _crawl(opening: _Opening, content: Content, kind: str, most_bytes: int) -> Sample:
    """Reads texts, or pages with an extractor that is installed."""
    try:
        return _rows(opening, content.format, kind, FormatOptions(), most_bytes)[0]
    except ConfigError:
        for library in LIBRARIES:
            with suppress(ConfigError):
                extractor_version(library)
                options = FormatOptions(extractors=(library,))
                return _rows(opening, content.format, kind, options, most_bytes)[0]
    return Sample(opening.name, content.format, needs="web")


def _rows(opening: _Opening, declared: str, kind: str, options: FormatOptions, most_bytes: int) -> tuple[Sample, str]:
    """Returns the first rows, and why there are no more: `end`, or `enough`."""
    most = _MOST_READ.get(kind, LONGEST + (1 << 20))
    limits = Limits(line_bytes=LONGEST, ratio=0, free_bytes=most)
    if kind in _COLUMNS:
        limits = Limits()
    file = RawFile(opening.name, lambda: opening.raw(most))
    rows: list[Row] = []
    bad: dict[str, int] = {}
    example, size, why = "", 0, "end"
    try:
        for row in read_rows(file, declared, limits, AsItIs, bare_strings=True, options=options):
            if isinstance(row, BadRow):
                if not isinstance(row, PassedOver):
                    bad[row.reason] = bad.get(row.reason, 0) + 1
                    example = example or f"{row.where.removeprefix(file.name).lstrip()}: {row.reason}: {row.detail}"
                continue
            if len(rows) < MOST_ROWS:
                rows.append(row)
            size += sum(len(value) for value in row.values() if isinstance(value, str | list))
            if size > most_bytes or sum(bad.values()) > MOST_ROWS:
                why = "enough"
                break
    except _EnoughError:
        why = "enough"
    except BadFileError as error:
        if kind in _COLUMNS or not any(words in error.problem for words in _OVER_LIMITS):
            raise
        why = "enough"
    return Sample(opening.name, declared, options, rows, bad, example[:400]), why


def _long_row(opening: _Opening, sample: Sample, kind: str, head: bytes) -> Sample:
    """Returns the beginning of a first row that is longer than what is looked at; `UnreadError` if a build drops it."""
    if kind == "txt" and opening.file.bytes > _LONGEST_READ:
        raise UnreadError("long_row", f"is one text of more than {_LONGEST_READ >> 20} MiB")
    if kind != "txt" and isinstance(opening.place, LocalFolder):
        _require_end(opening)
    text = head.decode("utf-8", "ignore")
    row = {"": text[:SHOWN]} if kind == "txt" else begun_object(text)
    if not row:
        raise UnreadError("long_row", f"its first row has more than {LONGEST >> 20} MiB, and does not begin like one")
    return replace(sample, rows=[row], is_long=True)


def _require_end(opening: _Opening) -> None:
    """Raises `UnreadError` if the first row has more bytes than a build reads."""
    with opening.place.open(opening.file, opening.name) as raw:
        allowed, container = Limits().decompressed(opening.file.bytes), identify(raw.read(512))
        raw.seek(0)
        plain = container not in CODECS
        stream = io.BufferedReader(cast(io.RawIOBase, raw), 1 << 20) if plain else open_packed(raw, container, allowed)
        left = _LONGEST_READ
        try:
            while block := stream.readline(1 << 20):
                left -= len(block)
                if left < 0:
                    raise UnreadError("long_row", f"its first row has more than {_LONGEST_READ >> 20} MiB")
                if block.endswith(b"\n"):
                    return
        except CodecError as error:
            raise UnreadError("damaged", str(error)) from None
