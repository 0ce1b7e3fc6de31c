"""Pages of a listing, parsed here: botocore needs a tenth of a second for a page of 1,000 objects.

botocore gets the rest of the page: whether there are more objects, and where they begin.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote_plus
from xml.etree import ElementTree

from resources.errors import StorageError

Found = tuple[str, int, str]
"""Key, bytes and version of an object."""

ENTRIES = "Entries"
_OK = 200


def listed(connection: Any, bucket: str, prefix: str) -> Iterator[Found]:
    """Yields every object whose key begins with a prefix; 1,000 objects are one request.

    Raises `StorageError` if the store says that there are more but not how to continue: a shorter listing would look
    like removed objects. The caller translates the errors of `connection`.
    """
    for page in _pages(connection, {"Bucket": bucket, "Prefix": prefix}):
        yield from page[ENTRIES]


def folders(connection: Any, bucket: str, prefix: str) -> Iterator[str]:
    """Yields what follows a prefix, up to the next `/`, in keys that have one; errors as `listed`."""
    for page in _pages(connection, {"Bucket": bucket, "Prefix": prefix, "Delimiter": "/"}):
        yield from (found["Prefix"][len(prefix) :].rstrip("/") for found in page.get("CommonPrefixes", ()))


def _pages(connection: Any, given: dict[str, str]) -> Iterator[dict[str, Any]]:
    while True:
        page = connection.list_objects_v2(**given)
        yield page
        if not page.get("IsTruncated"):
            return
        following = page.get("NextContinuationToken")
        if not following or following == given.get("ContinuationToken"):
            place = f"s3://{given['Bucket']}/{given['Prefix']}"
            raise StorageError(f"{place}: the store breaks off its listing without saying how to go on")
        given["ContinuationToken"] = following


def read_page(response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: Any) -> None:
    """Removes the objects from a page before botocore reads it; they become `ENTRIES` of its reply."""
    if response_dict["status_code"] != _OK:
        return
    try:
        page = ElementTree.fromstring(response_dict["body"])
    except ElementTree.ParseError as error:
        raise StorageError(f"the store sent a listing that is no XML: {error}") from None
    space = page.tag.partition("}")[0] + "}" if page.tag.startswith("{") else ""
    encoded = page.findtext(f"{space}EncodingType") == "url"
    objects = page.findall(f"{space}Contents")
    customized_response_dict[ENTRIES] = [_found(one, space, encoded=encoded) for one in objects]
    for one in objects:
        page.remove(one)
    response_dict["body"] = ElementTree.tostring(page)


def _found(one: ElementTree.Element, space: str, *, encoded: bool) -> Found:
    key = one.findtext(f"{space}Key", "")
    version = one.findtext(f"{space}ETag", "").strip('"')
    return unquote_plus(key) if encoded else key, int(one.findtext(f"{space}Size", "0")), version
