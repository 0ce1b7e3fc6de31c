"""Files that are being written for an object store: spooled on this machine, then sent, large ones in parts."""

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from typing_extensions import override

from resources.errors import LeaseLostError
from resources.hashing import content_digest
from resources.storage.file_cache import FileCache
from resources.storage.interface import Unpublished
from resources.storage.s3.address import Address
from resources.storage.s3.client import ConditionError, S3Settings, client, holds_conditions, translated
from resources.storage.s3.paths import has_plain_name, has_version, require_relative, versioned
from resources.storage.s3.ranges import pool
from resources.stored_digest import WrittenFile
from resources.system_errors import at

MOST_PARTS = 10_000
KEPT_HERE = "(kept here until it is sent)"


class _Spooled(NamedTuple):
    """A file that is being written. kept: another descriptor of it, which stays when the writer closes its own."""

    raw: WrittenFile
    handle: BinaryIO
    kept: int

    @classmethod
    def over(cls, empty: BinaryIO, shown: str) -> "_Spooled":
        """Returns an object that writes to an empty file. shown: its place as errors name it."""
        with empty:
            kept = os.dup(empty.fileno())
        raw, handle = WrittenFile.opened(os.dup(kept), shown)
        return cls(raw, handle, kept)

    def size(self) -> int:
        return os.fstat(self.kept).st_size

    def finish(self) -> None:
        if not self.handle.closed:
            self.handle.flush()

    def digest(self) -> str:
        """Returns the digest of the bytes, once they are all there."""
        return self.raw.stored_digest(self.kept)

    def close(self) -> None:
        with suppress(OSError):
            self.handle.close()
        with suppress(OSError):
            os.close(self.kept)


class S3Unpublished(Unpublished):
    """Files of one partition.

    Files with a version in their key are sent by `prepare`, since no process reads them before a record names them.
    Files with plain names replace older ones. They are sent by `publish`, in the order of their creation, so that an
    index or manifest appears after the files that it describes. If the store supports it, each is sent on the condition
    that the present one is still the one that `prepare` saw; `LeaseLostError` if another builder has replaced it.
    """

    def __init__(self, address: Address, settings: S3Settings, cache: FileCache, identity: str) -> None:
        self._address = address
        self._settings = settings
        self._cache = cache
        self._identity = identity
        self._files: dict[str, _Spooled] = {}
        self._scratch: list[BinaryIO] = []
        self._stored: dict[str, tuple[str, int]] = {}
        self._digests: dict[str, str] = {}
        self._conditions: dict[str, Mapping[str, str]] = {}

    @override
    def create(self, path: str) -> BinaryIO:
        require_relative(path)
        spooled = _Spooled.over(self._cache.spool(), f"{path} {KEPT_HERE}")
        if path in self._files:
            self._files[path].close()
        self._files[path] = spooled
        return spooled.handle

    @override
    def scratch(self) -> BinaryIO:
        self._scratch.append(self._cache.spool())
        return self._scratch[-1]

    @property
    @override
    def replaces(self) -> bool:
        return any(map(has_plain_name, self._files))

    @override
    def stored(self, path: str) -> str:
        return self._stored[path][0]

    @override
    def size(self, path: str) -> int | None:
        return self._stored[path][1]

    @override
    def replaced(self, path: str) -> bool | None:
        if not has_plain_name(path):
            return False
        return "IfMatch" in self._conditions[path] if path in self._conditions else None

    @override
    def digest(self, path: str) -> str:
        return self._digests[path]

    @override
    def prepare(self) -> None:
        if self._stored or not self._files:
            return
        for file in self._files.values():
            file.finish()
        self._digests = {path: file.digest() for path, file in self._files.items()}
        version = content_digest(*(f"{path} {digest}".encode() for path, digest in sorted(self._digests.items())))
        self._stored = {path: (versioned(path, version), file.size()) for path, file in self._files.items()}
        plain = list(filter(has_plain_name, self._files))
        if plain and holds_conditions(self._settings, self._address):
            found = pool(self._settings).map(lambda path: self._upload(path).as_now(), plain)
            self._conditions = dict(zip(plain, found, strict=True))
        self._send([path for path in self._files if not has_plain_name(path)])

    @override
    def publish(self) -> None:
        self.prepare()
        try:
            for path in filter(has_plain_name, self._files):
                self._send([path])
        except (ConditionError, FileNotFoundError) as error:  # The answer to `IfMatch` for an absent object is 404.
            raise LeaseLostError(str(error)) from None
        for path, file in self._files.items():
            if has_version(stored := self.stored(path)):  # Its next reader often runs on this machine.
                self._cache.keep_spooled(f"{self._identity}/{stored}", "", file.kept)
        self._close()

    @override
    def discard(self) -> None:
        self._close()

    def _close(self) -> None:
        for file in self._files.values():
            file.close()
        for handle in self._scratch:
            with suppress(OSError):  # Closing writes what is no longer wanted; its fault would hide the first one.
                handle.close()
        self._files.clear()
        self._scratch.clear()

    def _send(self, paths: Sequence[str]) -> None:
        send([self._upload(path) for path in paths])

    def _upload(self, path: str) -> "Upload":
        stored, kept = self._stored[path][0], self._files[path].kept
        return Upload(self._address, self._settings, stored, kept, self._conditions.get(path, {}))


class Upload(NamedTuple):
    """One object to send. path: below the address. descriptor: the open file that is its content.

    condition: of the write, as the client takes it.
    """

    address: Address
    settings: S3Settings
    path: str
    descriptor: int
    condition: Mapping[str, str] = {}

    @property
    def place(self) -> dict[str, str]:
        """Bucket and key, as the client takes them."""
        return {"Bucket": self.address.bucket, "Key": self.address.key(self.path)}

    def as_now(self) -> Mapping[str, str]:
        """Returns this upload with the condition that it replaces the present object."""
        try:
            with translated(f"{self.address}/{self.path}"):
                return {"IfMatch": client(self.settings).head_object(**self.place)["ETag"]}
        except FileNotFoundError:
            return {"IfNoneMatch": "*"}

    def part(self, start: int, size: int, send: Callable[..., Any], **numbers: Any) -> Any:
        """Sends a piece of the file; returns the reply."""
        with at("reading again", f"{self.path} {KEPT_HERE}"):
            content = _read(self.descriptor, start, size)
        with translated(f"{self.address}/{self.path}"):
            return send(**self.place, **numbers, Body=content)


def send(uploads: list[Upload]) -> None:
    """Sends files, several requests at once, with at most `concurrency` parts in memory.

    If one fails, the parts of incomplete uploads are removed from the store, and the error is raised.
    """
    begun = [_Begun(upload) for upload in uploads]
    try:
        for one in begun:
            one.start()
        for one in begun:
            one.finish()
    except BaseException:
        for one in begun:
            one.abort()
        raise


class _Begun:
    """A running upload: one request, or one for each part."""

    def __init__(self, upload: Upload) -> None:
        self._upload = upload
        self._client = client(upload.settings)
        self._size = os.fstat(upload.descriptor).st_size
        self._id: str | None = None
        self._parts: list[Future[Any]] = []
        self._mark = {"writing": secrets.token_hex(8)}

    def start(self) -> None:
        submit = pool(self._upload.settings).submit
        part = part_size(self._size, self._upload.settings.part_size)
        if self._size <= part:
            put = partial(self._client.put_object, **self._upload.condition, Metadata=self._mark)
            self._parts = [submit(self._upload.part, 0, self._size, put)]
            return
        with translated(f"{self._upload.address}/{self._upload.path}"):
            self._id = str(self._client.create_multipart_upload(**self._upload.place, Metadata=self._mark)["UploadId"])
        send_part = partial(self._client.upload_part, UploadId=self._id)
        for number, start in enumerate(range(0, self._size, part), 1):
            self._parts.append(submit(self._upload.part, start, part, send_part, PartNumber=number))

    def finish(self) -> None:
        """Waits until the object is complete. A refusal does not count if the reply to an earlier attempt was lost."""
        try:
            self._finish()
        except (ConditionError, FileNotFoundError):
            if not self._is_ours():
                raise
        self._id = None

    def _is_ours(self) -> bool:
        """Returns whether the present object is the one that was sent here."""
        try:
            with translated(f"{self._upload.address}/{self._upload.path}"):
                return bool(self._client.head_object(**self._upload.place)["Metadata"] == self._mark)
        except FileNotFoundError:
            return False

    def _finish(self) -> None:
        replies = [future.result() for future in self._parts]
        if self._id is not None:
            self._require_as_seen()
            parts = [{"PartNumber": number, "ETag": reply["ETag"]} for number, reply in enumerate(replies, 1)]
            with translated(f"{self._upload.address}/{self._upload.path}"):
                self._client.complete_multipart_upload(
                    **self._upload.place,
                    **self._upload.condition,
                    UploadId=self._id,
                    MultipartUpload={"Parts": parts},
                )

    def _require_as_seen(self) -> None:
        """Checks the condition: some stores obey it for an object sent in one piece, but not for this call."""
        if self._upload.condition and self._upload.as_now() != self._upload.condition:
            raise ConditionError(f"{self._upload.address}/{self._upload.path}: was changed by somebody else")

    def abort(self) -> None:
        for future in self._parts:
            future.cancel()
        for future in self._parts:
            if not future.cancelled():
                future.exception()
        if self._id is not None:
            # Remaining parts show in `corpus clean`; the first error is the one to report.
            with suppress(OSError), translated(self._upload.path):
                self._client.abort_multipart_upload(**self._upload.place, UploadId=self._id)


def part_size(size: int, wanted: int) -> int:
    """Returns the size of the parts of a file, so that there are no more parts than a store allows."""
    return max(wanted, -(-size // MOST_PARTS))


def _read(descriptor: int, start: int, size: int) -> bytes:
    """Returns bytes of a file; one read of the system gives 2 GiB at most."""
    found = [os.pread(descriptor, size, start)]
    while found[-1] and sum(map(len, found)) < size:
        found.append(os.pread(descriptor, size - sum(map(len, found)), start + sum(map(len, found))))
    return found[0] if len(found) == 1 else b"".join(found)
