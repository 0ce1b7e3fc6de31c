"""Raw files in a bucket of Amazon S3 or a compatible store."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, BinaryIO

from resources.errors import ConfigError, StorageError, StoreAccessError
from resources.raw_places.files import FoundFile, fixed_prefix, glob_pattern, printable
from resources.raw_places.interface import NO_FILE, SourceFolder, member_path, together
from resources.raw_places.ranged import ranged
from resources.raw_places.remote import CutError, changed
from resources.storage.s3.address import parse_address
from resources.storage.s3.client import (
    ConditionError,
    S3Settings,
    client,
    of_bucket,
    received,
    translated,
)
from resources.storage.s3.listing import listed

_TOKEN = "s3/"


@dataclass(frozen=True)
class S3Folder:
    """Raw files below a prefix of a bucket (a `RawPlace`). The token of a file is its ETag."""

    location: str
    settings: S3Settings = field(default_factory=S3Settings)

    def files(self, folder: SourceFolder, ignored: list[tuple[str, str]]) -> list[FoundFile]:
        """Returns every object that a glob matches; one request lists 1,000 objects."""
        where = folder.key or f"sources.{folder.name}"
        patterns = [glob_pattern(glob) for glob in folder.globs]
        try:
            below = list(self._below(folder, ignored))
        except StorageError as error:
            raise StorageError(f"{where}.location: {self.location!r} cannot be listed: {error}") from None
        if not below and not self._holds_any():
            raise ConfigError(f"{where}.location: no object lies below {self.location!r}; valid: a prefix of some")
        return [found for found in below if any(one.fullmatch(found.path) for one in patterns)]

    def _holds_any(self) -> bool:
        """Returns whether anything lies below the prefix, whether or not a glob can match it."""
        top = parse_address(self.location)
        with of_bucket(str(top)):
            return any(True for _ in listed(client(self.settings), top.bucket, top.key("")))

    def _below(self, folder: SourceFolder, ignored: list[tuple[str, str]]) -> Iterator[FoundFile]:
        top = parse_address(self.location)
        cut = len(top.key(""))
        with of_bucket(str(top)):
            prefix = top.key(fixed_prefix(folder.globs))
            for key, size, version in listed(client(self.settings), top.bucket, prefix):
                if not (path := key[cut:]).endswith("/") and path:
                    yield FoundFile(path, size, _token(version), None)
                elif size:  # An empty object of that name is how some tools mark a folder.
                    ignored.append((f"{folder.name}/{printable(path)}", "the mark of a folder"))

    def open(self, file: FoundFile, label: str) -> BinaryIO:
        """Opens an object for reading by ranges, each of them of the version that was found."""
        if not file.bytes:
            return BytesIO()
        return ranged(S3Object(self, file, label), file.path, file.bytes, self.settings.part_size)

    def members(self, file: FoundFile, names: Sequence[str]) -> list[FoundFile]:
        """Returns the objects that a text list names; each is one request."""
        with ThreadPoolExecutor(self.settings.concurrency) as threads:
            return list(threads.map(lambda name: self._member(member_path(file, name)), names))

    def _member(self, path: FoundFile | str) -> FoundFile:
        if isinstance(path, FoundFile):
            return path
        top = parse_address(self.location)
        try:
            with translated(f"{top}/{path}"):
                found = client(self.settings).head_object(Bucket=top.bucket, Key=top.key(path))
        except FileNotFoundError:
            return FoundFile(path, 0, "0", NO_FILE)
        except StoreAccessError as error:
            # An OSError would be taken for a fault of the list.
            raise StorageError(f"{top}/{path}: cannot be looked at now: {error}") from None
        return FoundFile(path, found["ContentLength"], _token(found["ETag"]), None)

    def stamped(self, file: FoundFile, members: Sequence[FoundFile]) -> tuple[int, str]:
        """Returns size and token of an object and its members."""
        return together(file, members)

    def address(self, file: FoundFile) -> str:
        """Returns the address of an object."""
        return f"{parse_address(self.location)}/{file.path}"

    def identities(self, files: Iterable[FoundFile]) -> Iterator[str]:
        """Yields the addresses of objects, with that of their store."""
        yield from (f"{self.settings.endpoint or ''} {self.address(file)}" for file in files)


@dataclass(frozen=True)
class S3Object:
    """One version of one object (a `Remote`)."""

    place: S3Folder
    file: FoundFile
    label: str
    is_known: bool = True

    def get(self, first: int, end: int | None) -> "S3Reply":
        """Requests a range, on the condition that the object is unchanged since it was listed."""
        top = parse_address(self.place.location)
        given: dict[str, Any] = {"Bucket": top.bucket, "Key": top.key(self.file.path)}
        given["Range"] = f"bytes={first}-{self.file.bytes - 1 if end is None else end - 1}"
        given["IfMatch"] = f'"{self.file.modified.removeprefix(_TOKEN)}"'
        try:
            with translated(str(top)):
                found = client(self.place.settings).get_object(**given)
        except ConditionError:
            raise changed(self.label) from None
        except FileNotFoundError:
            raise StorageError(f"{self.label} is not there any more; build again") from None
        except StoreAccessError as error:
            # Libraries would take an OSError for damaged content.
            raise StorageError(f"{self.label}: cannot be read now: {error}") from None
        reply = S3Reply(found, self.label)
        if _token(found["ETag"]) != self.file.modified or reply.total != self.file.bytes:
            reply.close()
            raise changed(self.label)
        return reply


class S3Reply:
    """The answer of the store (a `Reply`)."""

    def __init__(self, found: Any, label: str) -> None:
        span, _, total = found.get("ContentRange", "").removeprefix("bytes ").partition("/")
        first = span.partition("-")[0]
        self.first = int(first) if first.isdecimal() else 0
        self.total = int(total) if total.isdecimal() else found["ContentLength"]
        self._body = found["Body"]
        self._label = label

    def read(self, size: int) -> bytes:
        """Returns up to `size` bytes."""
        try:
            with translated(self._label):
                block: bytes = self._body.read(size)
        except (StorageError, OSError) as error:
            raise CutError(type(error).__name__ if not isinstance(error, StorageError) else "no more bytes") from None
        received(len(block))
        return block

    def close(self) -> None:
        """Closes the connection if bytes are left, else gives it back."""
        self._body.close()


def _token(etag: str) -> str:
    return _TOKEN + etag.strip('"')
