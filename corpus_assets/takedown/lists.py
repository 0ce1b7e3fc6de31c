"""Reads lists of documents that must not be in any output: one name of a document per line."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from io import BytesIO
from typing import Final, NamedTuple

from corpus_assets.takedown.keys import DIGEST, ID, PAIR, URL, key_of, pair_of, plain_url
from resources.errors import ConfigError

LIST_BYTES: Final = 1 << 30
"""Most bytes of one list."""

_LINE_CHARACTERS: Final = 1 << 16
_SHA256: Final = re.compile(r"[0-9a-fA-F]{64}")


class Entry(NamedTuple):
    """A document that a line names.

    where: list and line.
    shown: the line, for messages.
    keys: see `keys.py`.
    kind: the main kind of the line; one with `://` is a URL, although it may also be the id of a document.
    """

    where: str
    shown: str
    keys: tuple[bytes, ...]
    kind: str = ID


def entries(lists: Mapping[str, bytes], sources: Collection[str] | None) -> Iterator[Entry]:
    """Yields the entries of all lists, by name. sources: the names that pairs may have; None for any.

    Raises `ConfigError` that names list and line for a line that names no document.
    """
    for name, content in lists.items():
        for number, line in enumerate(BytesIO(content), 1):
            value = _text(f"{name} line {number}", line, "utf-8-sig" if number == 1 else "utf-8").strip(" \r\n")
            if value and not value.startswith("#"):
                where = f"{name} line {number}"
                yield Entry(where, value, tuple(_keys(value, where, sources)), kind_of(value))


def all_keys(found: Iterable[Entry]) -> dict[bytes, Entry]:
    """Returns the entries by key; the first of several with the same key."""
    keys: dict[bytes, Entry] = {}
    for entry in found:
        for key in entry.keys:
            keys.setdefault(key, entry)
    return keys


def kind_of(value: str) -> str:
    """Returns the kind of name in a line: a pair, the word before a colon, a URL, a digest, or an id."""
    if "\t" in value:
        return PAIR
    kind, colon, rest = value.partition(":")
    if colon and kind in (ID, URL, DIGEST) and not rest.startswith("//"):
        return kind
    if "://" in value:
        return URL
    return DIGEST if _SHA256.fullmatch(value) else ID


def _text(where: str, line: bytes, encoding: str) -> str:
    try:
        return line.decode(encoding)
    except UnicodeDecodeError as fault:
        raise ConfigError(f"{where}: no UTF-8: {fault.reason}") from None


def _keys(value: str, where: str, sources: Collection[str] | None) -> Iterator[bytes]:
    if len(value) > _LINE_CHARACTERS:
        raise ConfigError(f"{where}: {len(value)} characters; valid: at most {_LINE_CHARACTERS}")
    if "\0" in value:
        raise ConfigError(f"{where}: holds a NUL character")
    if "\t" in value:
        yield _pair_key(value, where, sources)
        return
    kind, colon, rest = value.partition(":")
    if colon and kind in (ID, URL, DIGEST) and not rest.startswith("//"):
        yield key_of(kind, _checked(kind, rest.strip(), where))
        return
    yield key_of(ID, value)
    if "://" in value:
        yield key_of(URL, plain_url(value))
    if _SHA256.fullmatch(value):
        yield key_of(DIGEST, value.lower())


def _pair_key(value: str, where: str, sources: Collection[str] | None) -> bytes:
    source, *ids = value.split("\t")
    if len(ids) != 1 or not source or not ids[0]:
        raise ConfigError(f"{where}: {value[:80]!r}; valid with a tab: the name of a source, a tab, an id")
    if sources is not None and source not in sources:
        raise ConfigError(f"{where}: no source named {source!r}; valid: {', '.join(sources)}")
    return key_of(PAIR, pair_of(source, ids[0]))


def _checked(kind: str, value: str, where: str) -> str:
    if not value:
        raise ConfigError(f"{where}: nothing stands after {kind}:")
    if kind == DIGEST and not _SHA256.fullmatch(value):
        raise ConfigError(f"{where}: {value[:80]!r} is no SHA-256; valid: 64 hexadecimal digits")
    return {URL: plain_url, DIGEST: str.lower}.get(kind, str)(value)
