"""Uploads in parts that nobody completed: a killed writer leaves them, and a store keeps their parts for ever."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from resources.storage.s3.address import Address
from resources.storage.s3.client import S3Settings, client, translated
from resources.storage.s3.paths import may_be_ours

_MAY_TAKE = timedelta(days=1)
_NO_LIST = {405, 501}
"""Errors besides 404 by which stores say that they do not support the request."""


def old_uploads(settings: S3Settings, address: Address) -> list[tuple[str, str]]:
    """Returns key and id of uploads of files of a corpus that nobody completed in a day, by the store's clock.

    None where a store keeps no list of uploads, as some compatible ones do.
    """
    from botocore.exceptions import ClientError

    with suppress(FileNotFoundError), translated(f"{address}: listing uploads that nobody completed"):
        try:
            return list(_old_uploads(settings, address))
        except ClientError as error:
            if error.response["ResponseMetadata"].get("HTTPStatusCode") not in _NO_LIST:
                raise
    return []


def abort_old_uploads(settings: S3Settings, address: Address) -> int:
    """Removes the parts of old uploads; returns how many uploads there were."""
    found = old_uploads(settings, address)
    for key, number in found:
        with suppress(FileNotFoundError), translated(f"s3://{address.bucket}/{key}"):
            client(settings).abort_multipart_upload(Bucket=address.bucket, Key=key, UploadId=number)
    return len(found)


def _old_uploads(settings: S3Settings, address: Address) -> Iterator[tuple[str, str]]:
    from botocore.utils import parse_timestamp

    top = len(address.key(""))
    given = {"Bucket": address.bucket, "Prefix": address.key("")}
    while True:
        reply = client(settings).list_multipart_uploads(**given)
        for item in reply.get("Uploads", ()):
            old = _time_of(reply) - parse_timestamp(item["Initiated"]) > _MAY_TAKE
            if old and may_be_ours(item["Key"][top:]):
                yield item["Key"], item["UploadId"]
        if not reply.get("IsTruncated"):
            return
        given |= {"KeyMarker": reply["NextKeyMarker"], "UploadIdMarker": reply["NextUploadIdMarker"]}


def _time_of(reply: Mapping[str, Any]) -> datetime:
    """Returns when the store sent a reply, by its own clock."""
    said = parsedate_to_datetime(reply["ResponseMetadata"]["HTTPHeaders"]["date"])
    return said.replace(tzinfo=said.tzinfo or UTC)
