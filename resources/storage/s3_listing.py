"""Pages of a listing, read from their XML here: botocore needs a tenth of a second for one of 1,000 objects.

What botocore gets to read is the rest of the page: whether there are more, and where they begin.
"""

from typing import Any
from urllib.parse import unquote_plus
from xml.etree import ElementTree

Found = tuple[str, int, str]
"""Key, bytes and version of an object."""

ENTRIES = "Entries"
_OK = 200


def read_page(response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: Any) -> None:
    """Takes the objects out of a page before botocore reads it; they are `ENTRIES` of its reply."""
    if response_dict["status_code"] != _OK:
        return
    page = ElementTree.fromstring(response_dict["body"])
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
