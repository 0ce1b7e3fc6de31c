"""Clients of S3 and compatible stores: settings, one client per process, translated errors, counts of requests.

Credentials come from the usual chain of boto3 alone (environment, profile, role of the machine). They are never part of
a setting, an error or a record, and neither are signed addresses.
"""

import logging
import os
import re
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from json import JSONDecodeError
from threading import Lock
from typing import Any, Literal, NamedTuple

import msgspec

from resources.errors import ConfigError, StorageError, StoreAccessError, is_of_the_file
from resources.storage.s3.address import Address
from resources.storage.s3.listing import read_page
from resources.storage.s3.quick import quick_session, without_asking_first
from resources.storage.s3.retries import without_allowance

ATTEMPTS = 8
_FEW_ATTEMPTS = 2
_CONNECT_SECONDS = 10
_READ_SECONDS = 60
_ABSENT = {"NoSuchKey", "404", "NotFound", "NoSuchUpload"}
_CONDITION = {"PreconditionFailed", "ConditionalRequestConflict", "412", "409"}
_CODE = re.compile("[A-Za-z0-9.]{1,60}")
_REFUSED = {"401", "403", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken"}
_URL = re.compile(r"(\w+://)([^\s'\"/?#@]*)([^\s'\"]*)")
_IMPOSSIBLE = ({"IfNoneMatch": "*"}, {"IfMatch": f'"{"0" * 32}"'})
_NOT_IMPLEMENTED = 501
_NO_STORE = "does s3.endpoint name an object store, and not its web console or a login page?"


class S3Settings(msgspec.Struct, frozen=True):
    """How a store is reached. Hashable and picklable.

    endpoint: address of a compatible store; None for Amazon's.
    region, profile: None for those of the environment.
    addressing: where the bucket's name goes.
    concurrency: requests of one process at once.
    part_size: bytes of one request for a part of a larger object.
    anonymous: ask without credentials.
    patience: seconds after which a request that got no answer is given up, and tried once more only; None for much time
        and many attempts.
    """

    endpoint: str | None = None
    region: str | None = None
    profile: str | None = None
    addressing: Literal["auto", "path", "virtual"] = "auto"
    concurrency: int = 8
    part_size: int = 8 << 20
    anonymous: bool = False
    patience: float | None = None


class Traffic(NamedTuple):
    """The traffic of this process with object stores: requests by operation, each attempt counted, and bytes."""

    requests: dict[str, int]
    sent: int
    received: int


_REQUESTS: Counter[str] = Counter()
_BYTES: Counter[str] = Counter()


def traffic() -> Traffic:
    """Returns the requests and bytes of this process so far."""
    return Traffic(dict(_REQUESTS), _BYTES["sent"], _BYTES["received"])


def received(size: int) -> None:
    """Counts bytes of bodies that were read."""
    _BYTES["received"] += size


def _count(request: Any, event_name: str, **_: Any) -> None:
    _REQUESTS[event_name.rpartition(".")[2]] += 1
    _BYTES["sent"] += int(request.headers.get("Content-Length") or 0)


_CLIENTS: dict[S3Settings, Any] = {}
_CONDITIONS: dict[tuple[S3Settings, Address], bool] = {}
_MAKING = [Lock()]


def _after_fork() -> None:
    """The parent's connections must not be used, and one of its threads may have held the lock."""
    _CLIENTS.clear()
    _MAKING[0] = Lock()
    _REQUESTS.clear()
    _BYTES.clear()


os.register_at_fork(after_in_child=_after_fork)


def client(settings: S3Settings) -> Any:
    """Returns the client of this process for some settings, which all of its threads share."""
    with _MAKING[0]:
        if settings not in _CLIENTS:
            _CLIENTS[settings] = _client(settings)
        return _CLIENTS[settings]


def _client(settings: S3Settings) -> Any:
    import boto3
    from botocore import UNSIGNED
    from botocore.config import Config

    attempts = ATTEMPTS if settings.patience is None else _FEW_ATTEMPTS
    config = Config(
        retries={"mode": "standard", "total_max_attempts": attempts},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        connect_timeout=settings.patience or _CONNECT_SECONDS,
        read_timeout=settings.patience or _READ_SECONDS,
        max_pool_connections=settings.concurrency + 4,
        s3={"addressing_style": settings.addressing},
        signature_version=UNSIGNED if settings.anonymous else None,
        user_agent="corpus-assets",
        parameter_validation=False,
    )
    _without_details()
    with translated("the object store"):
        session = boto3.Session(
            profile_name=settings.profile, region_name=settings.region, botocore_session=quick_session()
        )
        # Compatible stores ask for no region, but requests are signed with one.
        region = session.region_name or ("us-east-1" if settings.endpoint else None)
        try:
            made = session.client("s3", endpoint_url=settings.endpoint, region_name=region, config=config)
        except JSONDecodeError:  # An error of a program that supplies credentials.
            raise
        except ValueError:
            raise ConfigError(f"s3.endpoint: {settings.endpoint!r} is no host with or without a port") from None
    without_allowance(made, attempts)
    without_asking_first(made)
    made.meta.events.register("before-send.s3", _count)
    made.meta.events.register("before-parse.s3.ListObjectsV2", read_page)
    return made


def _without_details() -> None:
    """Keeps the client library from logging details by default: it logs every header, and headers hold tokens."""
    log = logging.getLogger("botocore")
    if log.level == logging.NOTSET:
        log.setLevel(logging.INFO)


class ConditionError(StorageError):
    """A conditional write was refused: the object is there already, or is another one by now."""


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Translates errors of the client library; `what` names the object or the store.

    Raises `FileNotFoundError` for an absent object, `ConditionError` for a refused condition, `StoreAccessError` for
    everything else: a fault of the store, the network or the credentials, which says nothing about content.
    """
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError

    try:
        yield
    except ClientError as error:
        raise _fault(what, error.response) from None
    except (BotoCoreError, HTTPClientError, Boto3Error, RecursionError) as error:
        if isinstance(_cause(error), RecursionError):  # The library follows any number of redirects.
            raise StoreAccessError(f"{what}: every answer leads elsewhere; {_NO_STORE}") from None
        raise StoreAccessError(f"{what}: {type(error).__name__}: {_words(error)}") from None
    except (OSError, JSONDecodeError) as error:
        if isinstance(error, OSError) and (error.errno is None or not is_of_the_file(error)):
            raise
        # A fault of this machine, such as a missing program that supplies credentials: no object is absent.
        why = error.strerror if isinstance(error, OSError) else "what a program says of credentials is no JSON"
        raise StoreAccessError(f"{what}: cannot be asked: {type(error).__name__}: {why}") from None


@contextmanager
def of_bucket(what: str) -> Iterator[None]:
    """Like `translated`, for requests that ask for no object that may be absent."""
    try:
        with translated(what):
            yield
    except FileNotFoundError:
        raise StoreAccessError(f"{what}: the answer is 404; {_NO_STORE}") from None


def version_of(reply: Mapping[str, Any], what: str) -> str:
    """Returns the version of an object that a reply tells, without quotes; `StoreAccessError` if it tells none."""
    if "ETag" not in reply:
        raise StoreAccessError(f"{what}: the answer has no ETag; {_NO_STORE}")
    return str(reply["ETag"]).strip('"')


def _words(error: Any) -> str:
    """Returns the client library's message without possible secrets: a refused header may hold a token."""
    cause = _cause(error)
    return without_addresses(str(error)) if cause is error else f"the request cannot be sent ({type(cause).__name__})"


def _cause(error: Any) -> Any:
    """Returns the underlying error of a request if the client library's error adds nothing; else that error."""
    from botocore.exceptions import HTTPClientError

    return error.kwargs.get("error") if type(error) is HTTPClientError else error


def _fault(what: str, response: Any) -> Exception:
    told = str(response.get("Error", {}).get("Code", ""))
    code = told if _CODE.fullmatch(told) else ""  # Other words of a server may repeat what it was told.
    status = str(response.get("ResponseMetadata", {}).get("HTTPStatusCode", ""))
    if code in _ABSENT or (status == "404" and code != "NoSuchBucket"):
        return FileNotFoundError(f"{what}: no such object")
    if code in _CONDITION or status == "412":
        return ConditionError(f"{what}: was changed by somebody else ({code or status})")
    if code == "NoSuchBucket":
        return StoreAccessError(f"{what}: there is no such bucket: it was removed, or it has another name")
    if code in _REFUSED or status in _REFUSED:
        return StoreAccessError(
            f"{what}: the store refuses access ({code or status}); credentials come from the environment"
        )
    return StoreAccessError(f"{what}: the store answers {code or 'an error'} (status {status or 'unknown'})")


def without_addresses(words: str) -> str:
    """Returns a message in which addresses are cut to host and port, since the rest may be signed.

    Addresses that may hold a password are removed completely.
    """
    return _URL.sub(lambda found: found[1] + ("..." if "@" in found[3] else f"{found[2]}/..."), words)


def holds_conditions(settings: S3Settings, address: Address) -> bool:
    """Returns whether a store refuses a write whose condition fails, so that it can hold leases.

    This is tried once per process with a test object, which is removed again.
    """
    known = settings, address
    if known not in _CONDITIONS:
        with of_bucket(f"{address}: trying conditional writes"):
            _CONDITIONS[known] = _probe(client(settings), address)
    return _CONDITIONS[known]


def _probe(connection: Any, address: Address) -> bool:
    place = {"Bucket": address.bucket, "Key": address.key(f".probe/{secrets.token_hex(8)}")}
    connection.put_object(**place, Body=b"1")
    try:
        return all(_refuses(connection, {**place, **given}) for given in _IMPOSSIBLE)
    finally:
        connection.delete_object(**place)


def _refuses(connection: Any, write: dict[str, str]) -> bool:
    from botocore.exceptions import ClientError

    try:
        connection.put_object(**write, Body=b"2")
    except ClientError as error:
        if isinstance(_fault("", error.response), ConditionError):
            return True
        if error.response["ResponseMetadata"].get("HTTPStatusCode") == _NOT_IMPLEMENTED:
            return False
        raise
    return False
