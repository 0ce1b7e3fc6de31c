"""Reads the lists of URLs, hosts and rules in which taggers look up documents."""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, cast

import msgspec

from corpus_assets.attributes.addresses import Variants, listed
from corpus_assets.attributes.string_set import StringSet
from resources.errors import BadFileError
from resources.formats.codecs import BUFFER_BYTES, FREE_BYTES, RATIO, CodecError, open_gzip
from resources.outside_files import OutsideFile

LONGEST_LINE = 1 << 20
LARGEST_JSON = 1 << 29
Read = Callable[[str], Iterator[str]]


class Site(msgspec.Struct):
    """A row of Wikidata's answer: a website and its description."""

    url: str | None = None
    description: str | None = None


def set_of(files: Sequence[OutsideFile], read: Read) -> StringSet:
    """Returns the set of values that `read` yields for the lines of files; `BadFileError` if there are none.

    Lines for which it raises `ValueError` are counted, and left out.
    """
    unread = 0

    def entries() -> Iterator[str]:
        nonlocal unread
        for line in (line for file in files for line in lines_of(file)):
            try:
                yield from list(read(line))
            except ValueError:
                unread += 1

    found = StringSet(entries())
    found.unread_lines = unread
    if not len(found):
        raise BadFileError(_names(files), f"none of its lines names a URL or host ({unread} could not be read)")
    return found


def addresses_in(files: Sequence[OutsideFile], variants: Variants, ignored: tuple[str, ...]) -> StringSet:
    """Returns the set of addresses in lists."""
    return set_of(files, lambda line: listed(line, variants, ignored))


def sites_in(files: Sequence[OutsideFile]) -> Iterator[Site]:
    """Yields the sites in JSON lists of objects with `url` and `description`; `BadFileError` if a file is none."""
    for file in files:
        with _opened(file) as stream:
            content = _read(file, stream, LARGEST_JSON + 1)
        if len(content) > LARGEST_JSON:
            raise BadFileError(file.name, f"has more than {LARGEST_JSON} bytes")
        try:
            yield from msgspec.json.decode(content, type=list[Site])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadFileError(file.name, f"no JSON list of objects with url and description: {error}") from None


def lines_of(file: OutsideFile) -> Iterator[str]:
    """Yields the lines of a file, which may be gzip; `BadFileError` names a line that is too long or not UTF-8."""
    with _opened(file) as stream:
        number = 0
        while line := _read(file, stream, LONGEST_LINE, line=True):
            number += 1
            where = f"{file.name}:{number}"
            if len(line) == LONGEST_LINE:
                raise BadFileError(where, f"a line of {LONGEST_LINE} bytes or more")
            try:
                yield line.decode()
            except UnicodeDecodeError as error:
                raise BadFileError(where, f"no UTF-8: {error.reason}") from None


@contextmanager
def _opened(file: OutsideFile) -> Iterator[BinaryIO]:
    with file.open() as raw:
        if not file.name.endswith(".gz"):
            yield cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, raw), BUFFER_BYTES))
            return
        allowed = max(FREE_BYTES, raw.seek(0, io.SEEK_END) * RATIO)
        raw.seek(0)
        yield open_gzip(raw, allowed)


def _read(file: OutsideFile, stream: BinaryIO, limit: int, *, line: bool = False) -> bytes:
    try:
        return stream.readline(limit) if line else stream.read(limit)
    except CodecError as error:
        raise BadFileError(file.name, str(error)) from None


def _names(files: Sequence[OutsideFile]) -> str:
    return ", ".join(file.name for file in files)
