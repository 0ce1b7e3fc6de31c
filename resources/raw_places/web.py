"""Raw files on web servers: those that a list of URLs names, or one."""

import gzip
import posixpath
import time
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from io import BytesIO
from typing import BinaryIO, TypeVar, cast
from urllib.parse import unquote, urljoin, urlsplit
from uuid import uuid4

from resources.errors import BadFileError, ConfigError, StorageError
from resources.hashing import content_digest
from resources.raw_places.addresses import LIST_SUFFIXES, is_list
from resources.raw_places.connection import HttpReply, StatusError, get
from resources.raw_places.data_suffixes import SUFFIXES, data_suffix
from resources.raw_places.files import FoundFile, glob_pattern, printable
from resources.raw_places.interface import SourceFolder, together
from resources.raw_places.ranged import first_request, ranged
from resources.raw_places.remote import Begun, CutError, changed, pauses
from resources.raw_places.streamed import StreamedFile

LIST_BYTES = 64 << 20
LIST_LINES = 1_000_000
LINE_BYTES = 8 << 10
_AT_ONCE = 16
_IN_HAND = 64 * _AT_ONCE
"""Files of a list that are requested at once."""
Bytes = TypeVar("Bytes", bytes, bytearray)
_UNKNOWN = "unknown/"
_GONE = (404, 410)
_NO_RANGE = 416


@dataclass(frozen=True)
class WebFiles:
    """Raw files that a list of URLs names, or one raw file, by the suffix of a URL (a `RawPlace`).

    The path of a file below the folder of the list is relative to that folder; any other file has the path of its URL
    after the host. The token of a file is its ETag, or else its date; without both it is read for every plan.
    """

    location: str

    def files(self, folder: SourceFolder, _: list[tuple[str, str]]) -> list[FoundFile]:
        """Returns every file of the list that a glob matches; each takes one request, for its first byte."""
        where = f"{folder.key or f'sources.{folder.name}'}.location: {self.location!r}"
        if folder.format == "txt_list":
            raise ConfigError(
                f"{where} cannot be with format txt_list; valid: txt, and a list of the URLs of the texts"
            )
        patterns = [glob_pattern(glob) for glob in folder.globs]
        wanted = [item for item in self._urls(folder, where) if any(one.fullmatch(item[0]) for one in patterns)]
        found: list[FoundFile] = []
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            for start in range(0, len(wanted), _IN_HAND):
                some = wanted[start : start + _IN_HAND]
                found += threads.map(lambda item: looked_up(f"{folder.name}/{printable(item[0])}", *item), some)
        return found

    def _urls(self, folder: SourceFolder, where: str) -> list[tuple[str, str]]:
        """Returns paths and URLs of all files, each path once."""
        if is_list(self.location):
            found = _named_once([(self._path(url), url) for url in self._listed(where)], where)
        elif folder.format == "auto" and data_suffix(self.location) is None:
            raise ConfigError(f"{where} does not say what it is; valid: a URL that ends in {_known_suffixes()}")
        else:
            found = [(posixpath.basename(self._path(self.location)), self.location)]
        return found

    def _listed(self, where: str) -> Iterator[str]:
        """Yields the URLs in the lines of the list."""
        for number, line in enumerate(_lines(self.location, where), 1):
            entry = line.strip()
            if entry and not entry.startswith("#"):
                yield _url(self.location, entry, f"{where} line {number}")

    def _path(self, url: str) -> str:
        parts, top = urlsplit(url), urlsplit(self.location)
        folder = top.path[: top.path.rfind("/") + 1]
        if (parts.scheme, parts.netloc) == (top.scheme, top.netloc) and parts.path.startswith(folder):
            return unquote(parts.path[len(folder) :], errors="surrogateescape")
        return unquote(f"{parts.netloc}/{parts.path.lstrip('/')}", errors="surrogateescape")

    def open(self, file: FoundFile, label: str) -> BinaryIO:
        """Opens a file: by ranges, or as one stream if the server supports none."""
        return open_url(WebFile(file.url, label, file.modified, file.bytes), file)

    def members(self, file: FoundFile, _: Sequence[str]) -> list[FoundFile]:
        """Returns nothing: lists of texts are not read from here."""
        raise BadFileError(printable(file.path), "is a list of text files, which is not read from web servers")

    def stamped(self, file: FoundFile, members: Sequence[FoundFile]) -> tuple[int, str]:
        """Returns size and token of a file."""
        return together(file, members)

    def address(self, file: FoundFile) -> str:
        """Returns the URL of a file without its query."""
        return urlsplit(file.url)._replace(query="", fragment="").geturl() if file.url else file.path

    def identities(self, files: Iterable[FoundFile]) -> Iterator[str]:
        """Yields the URLs of files."""
        yield from (file.url for file in files)


@dataclass(frozen=True)
class WebFile:
    """One version of a file on a web server (a `Remote`). version: its token. size: 0 if it is not known."""

    url: str = field(repr=False)
    label: str
    version: str
    size: int
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def is_known(self) -> bool:
        """Whether a reply tells which version it is of."""
        return not self.version.startswith(_UNKNOWN)

    def get(self, first: int, end: int | None) -> HttpReply:
        """Requests a range; a server without range requests answers with the whole file."""
        span = {"Range": f"bytes={first}-{end - 1}"} if end is not None else {}
        try:
            reply = get(self.url, self.label, {**dict(self.headers), **span})
        except StatusError as error:
            raise self._fault(error) from None
        told = self.version.startswith(("etag/", "date/"))
        if (told and reply.version != self.version) or (self.size and reply.total not in (None, self.size)):
            reply.close()
            raise changed(self.label)
        return reply

    def _fault(self, error: StatusError) -> StorageError:
        if error.status in (*_GONE, _NO_RANGE):
            return StorageError(f"{self.label} is not as it was listed any more ({error.status}); build again")
        return error


def open_url(remote: WebFile, file: FoundFile) -> BinaryIO:
    """Opens a file for reading and seeking. The first request shows whether the server supports ranges."""
    if not file.bytes:
        return cast(BinaryIO, StreamedFile(remote, remote.get(0, None)))
    end = min(first_request(file.path), file.bytes)
    reply = remote.get(0, end)
    if not reply.is_range:
        return cast(BinaryIO, StreamedFile(remote, reply))
    return ranged(Begun(remote, reply, end), file.path, file.bytes)


def looked_up(label: str, path: str, url: str) -> FoundFile:
    """Returns a file as its server describes it; a missing file gets a problem. label: the file in messages."""
    try:
        try:
            reply = get(url, label, {"Range": "bytes=0-0"})
        except StatusError as error:
            if error.status != _NO_RANGE:
                raise
            reply = get(url, label)  # The server refuses the first byte of an empty file.
        if reply.is_range:
            with suppress(CutError):  # The headers suffice. Reading the body lets the next request use the connection.
                reply.read(1)
    except StatusError as error:
        if error.status in _GONE:
            return FoundFile(path, 0, "0", f"cannot be read: the server answers {error.status}", url)
        raise StorageError(f"{error}; without this file the listing would be too short") from None
    reply.close()
    return FoundFile(path, reply.total or 0, reply.version or f"{_UNKNOWN}{uuid4().hex}", None, url)


def _known_suffixes() -> str:
    """Returns the suffixes by which the format of a URL is known, for messages."""
    return f"{', '.join(LIST_SUFFIXES)} (a list of URLs), {', '.join(one for one in SUFFIXES if one != '.txt')}"


def _url(top: str, entry: str, where: str) -> str:
    """Returns the URL of a line of a list, which is absolute or relative to the list's own."""
    try:
        parts = urlsplit(urljoin(top, entry))
        whole = parts.scheme in ("http", "https") and parts.hostname and not parts.path.endswith("/")
        _ = parts.port
    except ValueError:
        whole, parts = None, urlsplit("")
    if not whole or parts.username is not None:
        raise ConfigError(f"{where}: valid is the URL of a file (http or https, without user name), or a path")
    return parts._replace(fragment="").geturl()


def _named_once(found: list[tuple[str, str]], where: str) -> list[tuple[str, str]]:
    """Returns paths and URLs; if URLs differ only in their queries, their paths get a hash."""
    taken = Counter(path for path, _ in found)
    named = [(_hashed(path, url) if taken[path] > 1 and urlsplit(url).query else path, url) for path, url in found]
    for path, count in Counter(path for path, _ in named).items():
        if count > 1:
            raise ConfigError(f"{where} names {printable(path)!r} {count} times; valid: every file once")
    return named


def _hashed(path: str, url: str) -> str:
    suffix = data_suffix(path) or ""
    return f"{path[: len(path) - len(suffix)]}-{content_digest(url.encode('utf-8', 'surrogateescape'))[:8]}{suffix}"


def _lines(url: str, where: str) -> Iterator[str]:
    """Yields the lines of a list; `ConfigError` for one that is too long, or no text."""
    content = _body(url, where)
    if urlsplit(url).path.lower().endswith(".gz"):
        content = _unpacked(content, where)
    if (count := content.count(b"\n")) > LIST_LINES:
        raise ConfigError(f"{where}: the list has {count:,} lines; valid: at most {LIST_LINES:,}")
    for number, line in enumerate(BytesIO(content.removeprefix(BOM_UTF8)), 1):
        if len(line) > LINE_BYTES:
            raise ConfigError(f"{where} line {number}: {len(line):,} bytes; valid: at most {LINE_BYTES:,}")
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            raise ConfigError(f"{where} line {number}: the list is not UTF-8: {error.reason}") from None


def _body(url: str, where: str) -> bytes:
    """Returns the whole of a small file; a body that breaks off is requested again."""
    why = ""
    for pause in pauses():
        try:
            with closing(get(url, where)) as reply:
                return _all_of(reply, where)
        except StatusError as error:
            raise (ConfigError if error.status in _GONE else StorageError)(str(error)) from None
        except CutError as cut:
            why = str(cut)
        time.sleep(pause)
    raise StorageError(f"{where} cannot be read now: it broke off again and again ({why})")


def _all_of(reply: HttpReply, where: str) -> bytes:
    found = bytearray()
    while block := reply.read(1 << 20):
        found += block
        _bounded(found, where)
    return bytes(found)


def _unpacked(content: bytes, where: str) -> bytes:
    try:
        with gzip.open(BytesIO(content)) as stream:
            return _bounded(stream.read(LIST_BYTES + 1), where)
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(f"{where}: the list is no sound gzip: {error}") from None


def _bounded(content: Bytes, where: str) -> Bytes:
    if len(content) > LIST_BYTES:
        raise ConfigError(f"{where}: the list has more than the {LIST_BYTES:,} bytes that are allowed")
    return content
