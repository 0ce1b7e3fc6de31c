"""Documents of a raw file in any of the input formats, row by row."""

import io
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Final, cast

import pyarrow as pa

from corpus_assets.raw import archive, jsonl, parquet, text
from corpus_assets.raw.faults import BadRow, RowError
from corpus_assets.raw.formats import HEAD_BYTES, check_content, resolve_format
from corpus_assets.raw.rows import Limits, RowReader, RowRules
from resources.codecs import BUFFER_BYTES, CodecError, open_gzip, open_zstd
from resources.documents import Document
from resources.errors import BadFileError, CorpusError, file_fault
from resources.sources import printable

__all__ = ["BadRow", "Limits", "RawFile", "RowRules", "listed_members", "read_documents"]

DEFAULT_LIMITS: Final = Limits()


@dataclass(frozen=True)
class RawFile:
    """A raw file as the readers see it.

    `name`: path relative to the source root, used in ids and messages. `open`: a new seekable binary stream.
    `member`: opens a path that a list of text files names, relative to the list; it refuses paths that leave
    the source.
    """

    name: str
    open: Callable[[], BinaryIO]
    member: Callable[[str], BinaryIO] | None = None


def read_documents(file: RawFile, rules: RowRules, limits: Limits = DEFAULT_LIMITS) -> Iterator[Document | BadRow]:
    """Documents and bad rows of a file in reading order, one at a time.

    A derived id is `name:row`, in an archive `name/member:row`, with `row` counting the rows of the file, bad
    ones included, from 0. A file of zero bytes has no rows, in any format but parquet. Raises `BadFileError`
    when the file as a whole cannot be trusted: wrong content for its name, cut, corrupt, wrong schema. It may
    come after good rows, which are then no whole file.
    """
    where = printable(file.name)
    kind = resolve_format(where, rules.format)
    with _faults(where), file.open() as raw:
        head = raw.read(HEAD_BYTES)
        raw.seek(0)
        check_content(where, kind, head)
        if not head and kind != "parquet":
            return
        reader = RowReader(rules, limits)
        if kind == "parquet":
            yield from parquet.read_rows(raw, reader, rules.text_key, where)
        elif kind == "txt":
            yield from _text_document(raw, rules, limits, where, where)
        elif kind == "txt_list":
            yield from _listed_documents(file, raw, rules, limits)
        elif kind == "jsonl.zst.tar":
            yield from _archive_documents(raw, reader, limits, where)
        else:
            stream = _open_lines(raw, kind, limits)
            yield from jsonl.read_rows(stream, reader, limits.line_bytes, where, where, bare_strings=kind == "json.gz")


def listed_members(file: RawFile) -> list[str]:
    """Paths that a list of text files names, in its order; raises `BadFileError` when it is no UTF-8."""
    where = printable(file.name)
    with _faults(where), file.open() as raw:
        return [path for _, path in text.listed_paths(text.read_text(raw, where, DEFAULT_LIMITS.line_bytes))]


def _open_lines(raw: BinaryIO, kind: str, limits: Limits) -> io.BufferedReader:
    """The decompressed bytes of a file of JSON lines."""
    if kind == "jsonl":
        return io.BufferedReader(cast(io.RawIOBase, raw), BUFFER_BYTES)
    allowed = limits.decompressed(raw.seek(0, io.SEEK_END))
    raw.seek(0)
    return open_zstd(raw, allowed) if kind == "jsonl.zst" else open_gzip(raw, allowed)


def _archive_documents(raw: BinaryIO, reader: RowReader, limits: Limits, where: str) -> Iterator[Document | BadRow]:
    for member in archive.members(raw, where):
        inside = f"{where} member {member.name}"
        if isinstance(member, archive.Skipped):
            yield BadRow(inside, "skipped_member", member.kind)
            continue
        with _faults(inside):
            stream = open_zstd(member.stream, limits.decompressed(member.size))
            yield from jsonl.read_rows(stream, reader, limits.line_bytes, inside, f"{where}/{member.name}")


def _listed_documents(file: RawFile, raw: BinaryIO, rules: RowRules, limits: Limits) -> Iterator[Document | BadRow]:
    """A listed text gets the id that it would get as a file of its own: its path from the source root."""
    where = printable(file.name)
    folder = where[: where.rfind("/") + 1]
    for number, path in text.listed_paths(text.read_text(raw, where, limits.line_bytes)):
        line = f"{where} line {number} ({path})"
        if not path.lower().endswith(".txt"):
            raise BadFileError(line, "a list of text files may name .txt files only")
        if file.member is None:
            raise BadFileError(line, "listed files cannot be opened from here")
        with _faults(line), file.member(path) as stream:
            yield from _text_document(stream, rules, limits, line, folder + path)


def _text_document(
    raw: BinaryIO, rules: RowRules, limits: Limits, where: str, place: str
) -> Iterator[Document | BadRow]:
    """One document, or none for an empty file."""
    content = text.read_text(raw, where, limits.line_bytes)
    if content:
        try:
            yield RowReader(rules, limits).from_text(content, place)
        except RowError as error:
            yield error.at(where)


@contextmanager
def _faults(where: str) -> Iterator[None]:
    """Faults of files and codecs become `BadFileError` with the place; errors with a place pass."""
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
