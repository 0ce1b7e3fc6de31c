"""Reads the rows of a raw file in any input format, one by one, as documents or through another parser."""

import io
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import BinaryIO, Final, TypeVar, cast

import pyarrow as pa

from corpus_assets.raw.formats import archive, delimited, jsonl, text, warc
from corpus_assets.raw.formats.names import HEAD_BYTES, container_of, resolve_format
from corpus_assets.raw.rows.documents import RowReader, RowRules
from corpus_assets.raw.rows.faults import BadRow, RowError
from corpus_assets.raw.rows.rules import FormatOptions, Limits, RowParser
from corpus_assets.raw.web.extractors import Extraction
from resources.errors import BadFileError, CorpusError, file_fault
from resources.formats.codecs import BUFFER_BYTES, CODECS, CodecError, WindowError, open_packed, open_zstd
from resources.formats.documents import Document
from resources.raw_places.data_suffixes import PLAIN, SUFFIXES, Kind, data_suffix
from resources.raw_places.files import printable

__all__ = ["BadRow", "Limits", "RawFile", "RowRules", "listed_members", "read_documents", "read_rows"]

Row = TypeVar("Row")

DEFAULT_LIMITS: Final = Limits()
NO_OPTIONS: Final = FormatOptions()


@dataclass(frozen=True)
class RawFile:
    """A raw file for the readers.

    name: path relative to the source root, used in ids and messages.
    open: opens a new seekable binary stream.
    member: opens a path that a list of text files names, relative to the list; it refuses paths that leave the source.
    counts: gets numbers about the content that are no rows (`losses.REPLACED`).
    """

    name: str
    open: Callable[[], BinaryIO]
    member: Callable[[str], BinaryIO] | None = None
    counts: Counter[str] = field(default_factory=Counter, compare=False)


def read_documents(file: RawFile, rules: RowRules, limits: Limits = DEFAULT_LIMITS) -> Iterator[Document | BadRow]:
    """Yields the documents and bad rows of a file in reading order, one at a time, as `read_rows` does.

    A line of a `.json.gz`, or of `.json` in another compression, may be a bare JSON string, with `loose_texts` any
    line. Every column of a table except the text and the Dolma fields becomes metadata.
    """
    bare_strings = rules.loose_texts or resolve_format(printable(file.name), rules.format).rows == "json"
    reader = partial(RowReader, rules, limits)
    yield from read_rows(file, rules.format, limits, reader, bare_strings=bare_strings, options=rules.options)


def read_rows(
    file: RawFile,
    declared: str,
    limits: Limits,
    new_parser: Callable[[], RowParser[Row]],
    *,
    bare_strings: bool,
    options: FormatOptions = NO_OPTIONS,
) -> Iterator[Row | BadRow]:
    """Yields the rows that a parser makes from a file, and bad rows, in reading order, one at a time.

    `declared` is a format or `auto`; `new_parser` is called once per file, or once per text of a list of texts.
    `bare_strings` is passed to `jsonl.read_rows`. A derived id is `name:row`, in an archive `name/member:row`; `row`
    counts the rows of the file from 0, bad ones included. `options`: how CSV and WARC are read. A file of zero bytes
    has no rows, in any format except parquet and Arrow, and `txt` where the parser takes empty files. Raises
    `BadFileError` if the file as a whole cannot be trusted: wrong content for its name, cut, corrupt, wrong schema. The
    error may come after good rows, which then are not the whole file.
    """
    where = printable(file.name)
    kind, limits = resolve_format(where, declared), replace(limits, window=options.window)
    with _faults(where), file.open() as raw:
        packed = _packed(raw, where, kind)
        if packed is None and kind.rows not in ("parquet", "arrow", "txt"):
            return
        if kind.rows == "parquet":
            from corpus_assets.raw.formats import parquet  # What tables need loads with the first one.

            yield from parquet.read_rows(raw, new_parser(), limits, where)
            return
        if kind.rows == "arrow":
            from corpus_assets.raw.formats import arrow

            yield from arrow.read_rows(raw, new_parser(), limits, where)
            return
        if kind.rows == "jsonl.zst.tar":
            yield from _archive_rows(raw, new_parser(), limits, where, bare_strings)
            return
        stream = _opened(raw, packed or PLAIN, limits)
        if kind.rows == "txt":
            yield from _text_row(stream, new_parser(), limits, where, where)
        elif kind.rows == "txt_list":
            yield from _listed_rows(file, stream, new_parser, limits)
        elif kind.rows in ("csv", "tsv"):
            layout = delimited.Layout.of(kind.rows, options)
            yield from delimited.read_rows(stream, new_parser(), layout, limits.line_bytes, where)
        elif kind.rows.startswith("warc"):
            how = Extraction(options.extractors, options.least, options.form, options.seconds)
            yield from warc.read_rows(
                stream, new_parser(), limits, where, how=how if how.extractors else None, counts=file.counts
            )
        else:
            yield from jsonl.read_rows(stream, new_parser(), limits.line_bytes, where, where, bare_strings=bare_strings)


def _extraction(options: FormatOptions) -> Extraction:
    return Extraction(options.extractors, options.least, options.form, options.seconds)


def json_lines(file: RawFile, declared: str, limits: Limits = DEFAULT_LIMITS) -> Iterator[bytes | None]:
    """Yields the unchanged lines of a file of JSON lines, newline included; None for one over the limit.

    Raises `BadFileError` for a file of another format, and like `read_rows`.
    """
    where = printable(file.name)
    kind = resolve_format(where, declared)
    if kind.rows not in ("jsonl", "json"):
        raise BadFileError(where, f"has format {kind.rows}, whose rows are no lines; valid: jsonl, compressed or not")
    with _faults(where), file.open() as raw:
        if (packed := _packed(raw, where, kind)) is not None:
            yield from jsonl.bounded_lines(_opened(raw, packed, limits), limits.line_bytes)


def listed_members(file: RawFile) -> list[tuple[int, str]]:
    """Returns the lines and paths of a list of text files, in its order; raises `BadFileError` if it is not UTF-8."""
    where = printable(file.name)
    with _faults(where), file.open() as raw:
        packed = _packed(raw, where, resolve_format(where, "txt_list")) or PLAIN
        stream = _opened(raw, packed, DEFAULT_LIMITS)
        return list(text.listed_paths(text.read_text(stream, where, DEFAULT_LIMITS.line_bytes)))


def _packed(raw: BinaryIO, where: str, kind: Kind) -> str | None:
    """Returns how a file is packed; None if it is empty."""
    head = raw.read(HEAD_BYTES)
    raw.seek(0)
    return container_of(where, kind, head) if head else None


def _opened(raw: BinaryIO, packed: str, limits: Limits) -> io.BufferedReader:
    """Returns a stream of the decompressed bytes of a file."""
    if packed not in CODECS:
        return io.BufferedReader(cast(io.RawIOBase, raw), BUFFER_BYTES)
    allowed = limits.decompressed(raw.seek(0, io.SEEK_END))
    raw.seek(0)
    return open_packed(raw, packed, allowed, limits.window)


def _archive_rows(
    raw: BinaryIO, parser: RowParser[Row], limits: Limits, where: str, bare_strings: bool
) -> Iterator[Row | BadRow]:
    parts = count()
    packed = spent = 0
    for member in archive.members(raw, where):
        inside = f"{where} member {member.name}"
        if isinstance(member, archive.Skipped):
            yield BadRow(inside, "skipped_member", member.kind)
            continue
        parser.begin_part(next(parts))
        packed += member.size
        with _faults(inside):
            # The bytes that are free of the ratio count once for all members, since an archive may have any number.
            stream = open_zstd(member.stream, limits.decompressed(packed) - spent, limits.window)
            place = f"{where}/{member.name}"
            yield from jsonl.read_rows(stream, parser, limits.line_bytes, inside, place, bare_strings=bare_strings)
            spent += stream.tell()


def _listed_rows(
    file: RawFile, listing: BinaryIO, new_parser: Callable[[], RowParser[Row]], limits: Limits
) -> Iterator[Row | BadRow]:
    """Yields the rows of listed texts; a text gets the id that it would have as a file: its path from the root."""
    where = printable(file.name)
    folder = where[: where.rfind("/") + 1]
    for part, (number, path) in enumerate(text.listed_paths(text.read_text(listing, where, limits.line_bytes))):
        line = f"{where} line {number}"
        kind = SUFFIXES.get((data_suffix(path) or "").lower())
        if kind is None or kind.rows != "txt":
            raise BadFileError(line, "a list of text files may name only .txt files, compressed or not")
        if file.member is None:
            raise BadFileError(line, "listed files cannot be opened from here")
        with _faults(f"{line} ({printable(path)})"), file.member(path) as raw:
            parser = new_parser()
            parser.begin_part(part)
            stream = _opened(raw, _packed(raw, line, kind) or PLAIN, limits)
            yield from _text_row(stream, parser, limits, line, folder + path)


def _text_row(raw: BinaryIO, parser: RowParser[Row], limits: Limits, where: str, place: str) -> Iterator[Row | BadRow]:
    """Yields the one row of a text file, or none if the file is empty and the parser accepts no empty files."""
    content = text.read_text(raw, where, limits.line_bytes)
    if content or parser.empty_files:
        try:
            yield parser.from_text(content, place)
        except RowError as error:
            yield error.at(where)


@contextmanager
def _faults(where: str) -> Iterator[None]:
    """Raises faults of files and codecs as `BadFileError` with the place; errors with a place are unchanged."""
    try:
        yield
    except WindowError as fault:
        raise BadFileError(where, f"{fault} (`largest_window` of its source allows more)") from fault
    except CodecError as fault:
        raise BadFileError(where, str(fault)) from fault
    except (CorpusError, MemoryError):  # Arrow's own MemoryError is an ArrowException too.
        raise
    except (EOFError, tarfile.TarError, pa.ArrowException) as fault:
        raise BadFileError(where, f"cannot be read: {fault}") from fault
    except OSError as fault:
        raise file_fault(where, fault) from fault
