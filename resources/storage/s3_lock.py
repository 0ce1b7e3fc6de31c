"""One builder at a time on a store in a bucket: an object that says who builds, renewed while it does.

A store that refuses writes whose condition does not hold keeps a second builder out for certain. Of any other it is
only asked whether the object is there: two that begin in the same moment are not seen.
"""

import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import msgspec

from resources.errors import StorageError, StoreAccessError
from resources.processes import start_time
from resources.storage.s3_address import Address
from resources.storage.s3_client import ATTEMPTS, ConditionError, S3Settings, client, holds_conditions, translated

NAME = ".lock"
EXPIRY_SECONDS = 60
_RENEWALS = 4
_HELD: dict[tuple[int, S3Settings, Address], int] = {}


class Holder(msgspec.Struct, frozen=True):
    """Who builds. nonce: another one for each build; renewal: counts, so that each renewal is another version."""

    host: str
    process: int
    began: float
    nonce: str
    renewal: int = 0


@contextmanager
def held_alone(settings: S3Settings, address: Address) -> Iterator[None]:
    """Holds the store while the block runs; may be nested. `StorageError` names who builds already."""
    known = os.getpid(), settings, address
    if known in _HELD:
        yield
        return
    lock = _Lock(settings, address)
    lock.take()
    _HELD[known] = 1
    try:
        with lock.renewed():
            yield
    finally:
        del _HELD[known]
        lock.release()


class _Lock:
    def __init__(self, settings: S3Settings, address: Address) -> None:
        self._settings = settings
        self._address = address
        self._place = {"Bucket": address.bucket, "Key": address.key(NAME)}
        self._holder = Holder(socket.gethostname(), os.getpid(), start_time(os.getpid()) or 0, secrets.token_hex(8))
        self._etag = ""
        self._over = threading.Event()

    def take(self) -> None:
        found = self._read()
        if found is None:
            self._write({"IfNoneMatch": "*"})
            return
        holder, etag, age = found
        if age < EXPIRY_SECONDS and not _is_dead(holder):
            raise self._refusal(holder)
        self._write({"IfMatch": f'"{etag}"'})

    @contextmanager
    def renewed(self) -> Iterator[None]:
        thread = threading.Thread(target=self._renew, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()

    def _renew(self) -> None:
        while not self._over.wait(EXPIRY_SECONDS / _RENEWALS):
            self._holder = msgspec.structs.replace(self._holder, renewal=self._holder.renewal + 1)
            with suppress(StorageError):  # The next renewal tries again; who took over meanwhile holds it.
                self._write({"IfMatch": f'"{self._etag}"'})

    def release(self) -> None:
        with suppress(FileNotFoundError):
            found = self._read()
            if found is not None and found[0].nonce == self._holder.nonce:
                with translated(str(self._address)):
                    client(self._settings).delete_object(**self._place)

    def _read(self) -> tuple[Holder, str, float] | None:
        """Returns who holds the lock, the version of the object and its age by the clock of the store."""
        try:
            reply, content = self._content()
            holder = msgspec.json.decode(content, type=Holder)
        except FileNotFoundError:
            return None
        except msgspec.DecodeError:
            raise StorageError(f"{self._address}/{NAME}: does not say who builds; remove it if nobody does") from None
        return holder, reply["ETag"].strip('"'), _age(reply)

    def _content(self) -> tuple[Any, bytes]:
        """Reads the object; asks again when the store breaks off, or gives less than all of it."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with translated(f"{self._address}/{NAME}"):
                    reply = client(self._settings).get_object(**self._place)
                    content = reply["Body"].read()
            except StoreAccessError:
                if attempt == ATTEMPTS:
                    raise
                continue
            if content.endswith(b"}"):
                break
        return reply, content

    def _write(self, condition: dict[str, str]) -> None:
        given = condition if holds_conditions(self._settings, self._address) else {}
        try:
            with translated(f"{self._address}/{NAME}"):
                reply = client(self._settings).put_object(
                    **self._place, Body=msgspec.json.encode(self._holder), **given
                )
        except ConditionError:
            found = self._read()
            if found is None or found[0] != self._holder:
                raise self._refusal(found[0] if found else None) from None
            self._etag = found[1]  # It is our own: the reply to an earlier attempt was lost.
            return
        self._etag = reply["ETag"].strip('"')

    def _refusal(self, holder: Holder | None) -> StorageError:
        who = f"process {holder.process} on {holder.host}" if holder else "another process"
        return StorageError(
            f"{self._address}: {who} is building on this store; wait until it is done (a builder that was killed is "
            f"thought gone {EXPIRY_SECONDS} seconds after its last sign)"
        )


def _age(reply: Any) -> float:
    """Returns the seconds since an object was written, by the clock of the store where it says the time."""
    from email.utils import parsedate_to_datetime

    said = reply["ResponseMetadata"]["HTTPHeaders"].get("date")
    now = parsedate_to_datetime(said).timestamp() if said else time.time()
    return float(now - reply["LastModified"].timestamp())


def _is_dead(holder: Holder) -> bool:
    """Returns whether the holder is a process of this machine that ended."""
    if holder.host != socket.gethostname():
        return False
    started = start_time(holder.process)
    return started is None or (started > 0 and holder.began > 0 and abs(started - holder.began) > 1)
