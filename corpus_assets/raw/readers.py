"""Reads the rows of a raw file in any input format, one by one, as documents or through another parser."""

import io
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import BinaryIO, Final, TypeVar, cast

import pyarrow as pa

from corpus_assets.raw.formats import archive, delimited, jsonl, parquet, text, warc
from corpus_assets.raw.formats.names import HEAD_BYTES, check_content, resolve_format
from corpus_assets.raw.rows.documents import RowReader, RowRules
from corpus_assets.raw.rows.faults import BadRow, RowError
from corpus_assets.raw.rows.rules import FormatOptions, Limits, RowParser
from resources.errors import BadFileError, CorpusError, file_fault
from resources.formats.codecs import BUFFER_BYTES, CodecError, open_gzip, open_zstd
from resources.formats.documents import Document
from resources.raw_places.files import printable

__all__ = ["BadRow", "Limits", "RawFile", "RowRules", "listed_members", "read_documents", "read_rows"]

Row = TypeVar("Row")

DEFAULT_LIMITS: Final = Limits()
NO_OPTIONS: Final = FormatOptions()


_JSON_LINES = ("jsonl", "jsonl.gz", "json.gz", "jsonl.zst")


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

    A line of a `.json.gz` may be a bare JSON string, with `loose_texts` any line. Every column of a table except the
    text and the Dolma fields becomes metadata.
    """
    bare_strings = rules.loose_texts or resolve_format(printable(file.name), rules.format) == "json.gz"
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
    has no rows, in any format except parquet, and `txt` where the parser takes empty files. Raises `BadFileError` if
    the file as a whole cannot be trusted: wrong content for its name, cut, corrupt, wrong schema. The error may come
    after good rows, which then are not the whole file.
    """
    where = printable(file.name)
    kind = resolve_format(where, declared)
    with _faults(where), file.open() as raw:
        head = raw.read(HEAD_BYTES)
        raw.seek(0)
        check_content(where, kind, head)
        if not head and kind not in ("parquet", "txt"):
            return
        if kind == "parquet":
            yield from parquet.read_rows(raw, new_parser(), limits, where)
        elif kind == "txt":
            yield from _text_row(raw, new_parser(), limits, where, where)
        elif kind == "txt_list":
            yield from _listed_rows(file, raw, new_parser, limits)
        elif kind == "jsonl.zst.tar":
            yield from _archive_rows(raw, new_parser(), limits, where, bare_strings)
        elif kind.startswith(("csv", "tsv")):
            stream = _open_lines(raw, kind, limits)
            layout = delimited.Layout.of(kind, options)
            yield from delimited.read_rows(stream, new_parser(), layout, limits.line_bytes, where)
        elif kind.startswith("warc"):
            stream = _open_lines(raw, kind, limits)
            library = options.extractor
            yield from warc.read_rows(stream, new_parser(), limits, where, library=library, counts=file.counts)
        else:
            stream = _open_lines(raw, kind, limits)
            yield from jsonl.read_rows(stream, new_parser(), limits.line_bytes, where, where, bare_strings=bare_strings)


def json_lines(file: RawFile, declared: str, limits: Limits = DEFAULT_LIMITS) -> Iterator[bytes | None]:
    """Yields the unchanged lines of a file of JSON lines, newline included; None for one over the limit.

    Raises `BadFileError` for a file of another format, and like `read_rows`.
    """
    where = printable(file.name)
    kind = resolve_format(where, declared)
    if kind not in _JSON_LINES:
        raise BadFileError(where, f"has format {kind}, whose rows are no lines; valid: {', '.join(_JSON_LINES)}")
    with _faults(where), file.open() as raw:
        head = raw.read(HEAD_BYTES)
        raw.seek(0)
        check_content(where, kind, head)
        if head:
            yield from jsonl.bounded_lines(_open_lines(raw, kind, limits), limits.line_bytes)


def listed_members(file: RawFile) -> list[tuple[int, str]]:
    """Returns the lines and paths of a list of text files, in its order; raises `BadFileError` if it is not UTF-8."""
    where = printable(file.name)
    with _faults(where), file.open() as raw:
        return list(text.listed_paths(text.read_text(raw, where, DEFAULT_LIMITS.line_bytes)))


def _open_lines(raw: BinaryIO, kind: str, limits: Limits) -> io.BufferedReader:
    """Returns a stream of the decompressed bytes of a file."""
    if not kind.endswith((".gz", ".zst")):
        return io.BufferedReader(cast(io.RawIOBase, raw), BUFFER_BYTES)
    allowed = limits.decompressed(raw.seek(0, io.SEEK_END))
    raw.seek(0)
    return open_zstd(raw, allowed) if kind.endswith(".zst") else open_gzip(raw, allowed)


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
            stream = open_zstd(member.stream, limits.decompressed(packed) - spent)
            place = f"{where}/{member.name}"
            yield from jsonl.read_rows(stream, parser, limits.line_bytes, inside, place, bare_strings=bare_strings)
            spent += stream.tell()


def _listed_rows(
    file: RawFile, raw: BinaryIO, new_parser: Callable[[], RowParser[Row]], limits: Limits
) -> Iterator[Row | BadRow]:
    """Yields the rows of listed texts; a text gets the id that it would have as a file: its path from the root."""
    where = printable(file.name)
    folder = where[: where.rfind("/") + 1]
    for part, (number, path) in enumerate(text.listed_paths(text.read_text(raw, where, limits.line_bytes))):
        line = f"{where} line {number}"
        if not path.lower().endswith(".txt"):
            raise BadFileError(line, "a list of text files may name only .txt files")
        if file.member is None:
            raise BadFileError(line, "listed files cannot be opened from here")
        with _faults(line), file.member(path) as stream:
            parser = new_parser()
            parser.begin_part(part)
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
    except CodecError as fault:
        raise BadFileError(where, str(fault)) from fault
    except CorpusError:
        raise
    except (EOFError, tarfile.TarError, pa.ArrowException) as fault:
        raise BadFileError(where, f"cannot be read: {fault}") from fault
    except OSError as fault:
        raise file_fault(where, fault) from fault
