"""Small objects in a bucket, as leases and lists of builders need them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from resources.errors import StoreAccessError
from resources.storage.s3.address import Address
from resources.storage.s3.client import ConditionError, S3Settings, client, of_bucket, translated, version_of
from resources.storage.s3.listing import listed
from resources.storage.s3.ranges import Object, get
from resources.storage.small_objects.conditional import ChangedError, Found, Objects

_MOST_BYTES = 1 << 28
"""Most bytes that are read of an object: all, since a writer recognizes its own content only by the whole."""


@dataclass(frozen=True)
class S3Objects(Objects):
    """Objects below a place in a bucket."""

    settings: S3Settings
    address: Address

    def _place(self, name: str) -> dict[str, str]:
        return {"Bucket": self.address.bucket, "Key": self.address.key(name)}

    @override
    def read(self, name: str) -> Found | None:
        place = self._place(name)
        try:
            piece = get(Object(self.settings, place["Bucket"], place["Key"], f"{self.address}/{name}"), 0, _MOST_BYTES)
        except FileNotFoundError:
            return None
        return Found(piece.content, piece.etag)

    @override
    def write(self, name: str, content: bytes) -> str:
        try:
            return self._put(name, content)
        except ChangedError as error:  # No condition was set, so the store answers something else than was asked.
            raise StoreAccessError(str(error)) from None

    @override
    def create(self, name: str, content: bytes) -> str:
        return self._put(name, content, IfNoneMatch="*")

    @override
    def replace(self, name: str, content: bytes, version: str) -> str:
        return self._put(name, content, IfMatch=f'"{version}"')

    def _put(self, name: str, content: bytes, **condition: Any) -> str:
        try:
            with translated(f"{self.address}/{name}"):
                reply = client(self.settings).put_object(**self._place(name), Body=content, **condition)
        except (ConditionError, FileNotFoundError) as error:  # The answer to `IfMatch` for an absent object is 404.
            raise ChangedError(str(error)) from None
        return version_of(reply, f"{self.address}/{name}")

    @override
    def delete(self, name: str) -> None:
        with translated(f"{self.address}/{name}"):
            client(self.settings).delete_object(**self._place(name))

    @override
    def names(self, folder: str) -> Iterator[str]:
        top = len(self.address.key(""))
        with of_bucket(f"{self.address}/{folder}"):
            found = listed(client(self.settings), self.address.bucket, self.address.key(f"{folder}/"))
            yield from (key[top:] for key, _, _ in found)
